// This file lends buffers to the frames that are being read or written.

package transport

import "sync"

// maxPooled is the largest buffer kept for the next user, in bytes: room for a
// full view with its JSON, while a rare large frame goes back to the collector.
const maxPooled = 256 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// getBuffer returns an empty buffer of any capacity.
func getBuffer() *[]byte { return buffers.Get().(*[]byte) }

// putBuffer takes a buffer back. Nobody may use it afterwards.
func putBuffer(b *[]byte) {
	if cap(*b) > maxPooled {
		return
	}
	*b = (*b)[:0]
	buffers.Put(b)
}
