// The write buffer, shared between files through a pool.

package spill

import "sync"

// bufferSize is how much one write(2) carries under load, in bytes. More gains nothing
// measurable on a page cache; less costs a system call per read of the command's output.
const bufferSize = 256 << 10

type buffer [bufferSize]byte

var bufferPool = sync.Pool{New: func() any { return new(buffer) }}

func getBuffer() *buffer  { return bufferPool.Get().(*buffer) }
func putBuffer(b *buffer) { bufferPool.Put(b) }
