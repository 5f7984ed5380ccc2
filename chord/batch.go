// A batch being written: each method appends one wire operation.

package chord

import (
	"errors"
	"strconv"
)

// Batch is a batch of operations that an [Encoder] is writing. Its methods
// append an operation each, in the order of the calls; a method that fails makes
// the batch fail, the methods called after it do nothing, and End returns the
// error. In the steady state of a stream (no new paths) the methods that take
// bytes and numbers allocate nothing but what the buffer needs to grow.
//
// Batches are made by [Encoder.Begin].
type Batch struct {
	enc   *Encoder
	open  bool
	buf   []byte
	start int // length of what the caller had in the buffer
	count int // operations without path definitions

	path        []byte // JSON of the path of the operation being written
	previous    []byte // JSON of the path of the one before
	hasPrevious bool

	err error
}

// Add appends op.
func (b *Batch) Add(op *Op) {
	switch op.Verb {
	case Replace:
		b.Replace(op.Value)
	case Set:
		b.Set(op.Path, op.Value)
	case Delete:
		b.Delete(op.Path)
	case Append:
		b.AppendText(op.Path, view(op.Text))
	case Truncate:
		b.Truncate(op.Path, op.Count)
	case Splice:
		b.Splice(op.Path, op.Index, op.Remove, op.Items...)
	case Move:
		b.Move(op.Path, op.Perm)
	default:
		b.fail(Validate(op))
	}
}

// Replace replaces the complete document by value, which makes the batch a base
// batch. It has to be the first operation.
func (b *Batch) Replace(value any) {
	if b.beginReplace() {
		b.value(value)
		b.end()
	}
}

// ReplaceJSON is Replace with a value that is JSON already, for instance from
// json.Marshal. What a [Decoder] would not accept is an error.
func (b *Batch) ReplaceJSON(raw []byte) {
	if b.beginReplace() {
		if _, err := parse(raw, 0); err != nil {
			b.failValue(err)
			return
		}
		b.buf = append(b.buf, raw...)
		b.end()
	}
}

// Set sets the property or element at path to value: any Go value that
// encoding/json can marshal.
func (b *Batch) Set(path Path, value any) {
	if b.begin(Set, path) {
		b.comma()
		b.value(value)
		b.end()
	}
}

// SetString sets the property or element at path to a string. The text should be
// valid UTF-8: an invalid byte becomes U+FFFD.
func (b *Batch) SetString(path Path, text []byte) {
	if b.begin(Set, path) {
		b.buf = appendQuoted(append(b.buf, ','), text)
		b.end()
	}
}

// SetInt sets the property or element at path to a number. Beyond ±2^53 the
// replica will hold the nearest float64.
func (b *Batch) SetInt(path Path, n int64) {
	if b.begin(Set, path) {
		b.int(n)
		b.end()
	}
}

// SetBool sets the property or element at path to true or false.
func (b *Batch) SetBool(path Path, v bool) {
	if b.begin(Set, path) {
		b.comma()
		b.buf = strconv.AppendBool(b.buf, v)
		b.end()
	}
}

// SetNull sets the property or element at path to null.
func (b *Batch) SetNull(path Path) {
	if b.begin(Set, path) {
		b.buf = append(b.buf, ",null"...)
		b.end()
	}
}

// Delete deletes the object property at path.
func (b *Batch) Delete(path Path) {
	if b.begin(Delete, path) {
		b.end()
	}
}

// AppendText appends text to the string at path. The text should be valid UTF-8:
// an invalid byte becomes U+FFFD.
func (b *Batch) AppendText(path Path, text []byte) {
	if b.begin(Append, path) {
		b.buf = appendQuoted(append(b.buf, ','), text)
		b.end()
	}
}

// Truncate removes units UTF-16 code units from the front of the string at path.
// They must be there, and the cut must not split a surrogate pair.
func (b *Batch) Truncate(path Path, units int) {
	if units < 0 {
		b.fail(Validate(&Op{Verb: Truncate, Path: path, Count: units}))
	}
	if b.begin(Truncate, path) {
		b.int(int64(units))
		b.end()
	}
}

// Splice replaces, in the array at path, remove elements from index on by items.
func (b *Batch) Splice(path Path, index, remove int, items ...any) {
	if index < 0 || remove < 0 {
		b.fail(Validate(&Op{Verb: Splice, Path: path, Index: index, Remove: remove}))
	}
	if b.begin(Splice, path) {
		b.int(int64(index))
		b.int(int64(remove))
		b.comma()
		b.array(items)
		b.end()
	}
}

// Move reorders the array at path so that new[i] is old[perm[i]]. It needs one
// entry for each element.
func (b *Batch) Move(path Path, perm []int) {
	if !isPermutation(perm) {
		b.fail(&ShapeError{Verb: Move, Path: path, Reason: notPermutation})
	}
	if b.begin(Move, path) {
		separator := byte('[')
		b.comma()
		for _, i := range perm {
			b.buf = append(b.buf, separator)
			b.buf = strconv.AppendInt(b.buf, int64(i), 10)
			separator = ','
		}
		if len(perm) == 0 {
			b.buf = append(b.buf, '[')
		}
		b.buf = append(b.buf, ']')
		b.end()
	}
}

// Len returns the number of operations written so far.
func (b *Batch) Len() int { return b.count }

// End completes the batch and returns the buffer given to Begin with the JSON
// array appended. A batch that failed returns that buffer unchanged and the
// error, a [*BatchError] or [ErrNeedBase]; its Encoder then needs a base batch.
func (b *Batch) End() ([]byte, error) {
	if !b.open {
		return nil, errEnded
	}
	buf, err := b.buf, b.err
	if err == nil && b.enc.broken {
		err = ErrNeedBase
	}
	b.open, b.buf, b.err = false, nil, errEnded
	if err != nil {
		b.enc.broken = true
		return buf[:b.start], err
	}
	return append(buf, ']'), nil
}

// errEnded keeps a batch that is no longer open from touching its encoder.
var errEnded = errors.New("chord: the batch has ended")
