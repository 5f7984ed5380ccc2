// The stream: whole records into a block, the block out in whatever pieces are asked for.

package gen

import (
	"fmt"
	"io"
)

const (
	blockSize = 64 << 10 // bytes made at a time
	maxRecord = 1 << 10  // no record is longer, in bytes
)

// A Reader yields the first bytes of a kind. It is made by [NewReader], used by one
// goroutine, and needs no closing.
type Reader struct {
	record func(*source, []byte) []byte
	source *source
	block  []byte // room for blockSize and one record more
	ready  []byte // the unread part of block
	left   int64  // bytes still to come, those of ready among them
}

// NewReader returns a stream of size bytes of the kind. The last record may be cut short. It
// is an error if there is no such kind or if size is negative.
func NewReader(kind Kind, size int64) (*Reader, error) {
	if _, err := ParseKind(string(kind)); err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, fmt.Errorf("gen: make %s: size %d: use 0 or more bytes", kind, size)
	}
	recipe := recipes[kind]
	return &Reader{
		record: recipe.record,
		source: newSource(recipe.phrase),
		block:  make([]byte, 0, blockSize+maxRecord),
		left:   size,
	}, nil
}

// Read implements [io.Reader]. The only error is [io.EOF].
func (r *Reader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	r.fill()
	n := copy(p, r.ready)
	r.advance(n)
	return n, nil
}

// WriteTo implements [io.WriterTo]: it writes what is left in blocks of about 64 KiB. The only
// errors are those of w.
func (r *Reader) WriteTo(w io.Writer) (total int64, err error) {
	for r.left > 0 {
		r.fill()
		n, err := w.Write(r.ready)
		r.advance(n)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// fill makes ready non-empty. Callers know that left > 0.
func (r *Reader) fill() {
	if len(r.ready) > 0 {
		return
	}
	block := r.block[:0]
	for len(block) < blockSize {
		block = r.record(r.source, block)
	}
	r.ready = block[:min(int64(len(block)), r.left)]
}

func (r *Reader) advance(n int) {
	r.ready = r.ready[n:]
	r.left -= int64(n)
}
