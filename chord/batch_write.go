// The pieces of a wire operation, written into a batch.

package chord

import (
	"bytes"
	"strconv"
)

// begin writes the opening of an operation on path, up to what follows the path.
func (b *Batch) begin(v Verb, path Path) bool {
	if b.err == nil && b.enc.broken {
		b.err = ErrNeedBase
	}
	if b.err != nil {
		return false
	}
	if err := checkPath(v, path); err != nil {
		b.fail(err)
		return false
	}
	b.path = appendPath(b.path[:0], path)
	if b.hasPrevious && bytes.Equal(b.path, b.previous) {
		b.verb(v)
		return true
	}
	id, defined := b.enc.paths.use(b.path)
	if defined {
		b.verb(define)
		b.int(int64(id))
		b.comma()
		b.buf = append(append(b.buf, b.path...), ']')
	}
	b.verb(v)
	if id >= 0 {
		b.int(int64(id))
	} else {
		b.comma()
		b.buf = append(b.buf, b.path...)
	}
	b.path, b.previous = b.previous, b.path
	b.hasPrevious = true
	return true
}

func (b *Batch) beginReplace() bool {
	if b.err != nil {
		return false
	}
	if b.count > 0 {
		b.fail(&ShapeError{Verb: Replace, Reason: "not the first operation of its batch"})
		return false
	}
	b.enc.broken = false
	b.enc.paths.reset()
	b.verb(Replace)
	b.comma()
	return true
}

// verb opens an operation.
func (b *Batch) verb(v Verb) {
	if len(b.buf) > b.start+1 {
		b.comma()
	}
	b.buf = append(b.buf, '[', '"', byte(v), '"')
}

func (b *Batch) end() {
	b.buf = append(b.buf, ']')
	b.count++
}

func (b *Batch) comma() { b.buf = append(b.buf, ',') }

func (b *Batch) int(n int64) { b.buf = strconv.AppendInt(append(b.buf, ','), n, 10) }

func (b *Batch) value(v any) {
	var err error
	if b.buf, err = appendValue(b.buf, v, 0); err != nil {
		b.failValue(err)
	}
}

func (b *Batch) array(items []any) {
	var err error
	if b.buf, err = appendArray(b.buf, items, 0); err != nil {
		b.failValue(err)
	}
}

func (b *Batch) failValue(err error) {
	b.fail(&ValueError{Cause: err})
}

func (b *Batch) fail(err error) {
	if b.err == nil {
		b.err = &BatchError{Op: b.count, Cause: err}
	}
}

// appendPath appends path as JSON. This form is also the path's name in the
// table: it tells indices from keys of digits.
func appendPath(dst []byte, path Path) []byte {
	dst = append(dst, '[')
	for i, seg := range path {
		if i > 0 {
			dst = append(dst, ',')
		}
		if seg.isIndex {
			dst = strconv.AppendInt(dst, int64(seg.index), 10)
		} else {
			dst = appendQuoted(dst, view(seg.key))
		}
	}
	return append(dst, ']')
}
