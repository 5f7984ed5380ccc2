// Decoding: a JSON array of wire operations to decoded operations.

package chord

import (
	"fmt"
	"slices"
)

// Decoder turns the JSON batches of one stream into operations with complete
// paths. It holds the path definitions received since the last base batch, so
// there is one for each stream and it has to see every batch in order; a fresh
// one can begin at any base batch.
//
// The zero value is ready to use and has the default limits. A Decoder must not
// be used by two goroutines at a time. It needs no closing.
//
// After an error the Decoder answers [ErrNeedBase] until a batch that begins
// with a [Replace].
type Decoder struct {
	Limits Limits

	paths   []Path // by id
	broken  bool
	scratch []byte
}

// maxScratch is how much of scratch is kept between batches, in bytes.
const maxScratch = 64 << 10

// Decode reads one batch and returns dst with its operations appended. The bytes may
// come from anyone: they are checked against the wire grammar and the limits, and an
// error that is not ErrNeedBase is a [*BatchError] round a [*SyntaxError], [*ShapeError], [*UnsafePathError],
// [*PathError] or [*LimitError]. The operations do not refer to wire, but may
// share their paths with those of other batches. On an error it returns dst as it was.
func (d *Decoder) Decode(dst []Op, wire []byte) ([]Op, error) { return d.decode(dst, wire, false) }

// decode is Decode. The texts of Append operations may be borrowed: they refer to wire and
// scratch, and are good until either is used again.
func (d *Decoder) decode(dst []Op, wire []byte, borrow bool) ([]Op, error) {
	limits := d.Limits.withDefaults()
	p := parser{data: wire, limits: limits, scratch: d.scratch[:0], borrow: borrow}
	defer func() {
		if d.scratch = p.scratch; cap(d.scratch) > maxScratch {
			d.scratch = nil
		}
	}()
	ops := dst
	n := 0
	for op := (wireOp{}); p.next(&op, n); n++ {
		if n == 0 && d.broken && op.Verb != Replace {
			return dst, ErrNeedBase
		}
		if p.fail(d.resolve(&op, ops[len(dst):], limits.MaxPaths)); p.err != nil {
			break // with n the operation that failed
		}
		if op.Verb == define {
			continue
		}
		if len(ops) == cap(ops) {
			ops = slices.Grow(ops, max(len(ops), 4)) // doubling, which append does not for long
		}
		ops = append(ops, op.Op)
	}
	if p.err != nil {
		d.broken = true
		return dst, &BatchError{Op: n, Cause: p.err}
	}
	if n == 0 && d.broken {
		return dst, ErrNeedBase
	}
	return ops, nil
}

// resolve gives op its complete path, or enters it into the table. before are the
// operations that precede it in the batch.
func (d *Decoder) resolve(op *wireOp, before []Op, maxPaths int) error {
	switch {
	case op.Verb == Replace:
		d.broken = false
		clear(d.paths)
		d.paths = d.paths[:0]
		return nil
	case op.Verb == define:
		return d.define(op, maxPaths)
	case op.ref == byID:
		if op.id >= len(d.paths) {
			return &ShapeError{Verb: op.Verb, Reason: fmt.Sprintf("path id %d has no definition", op.id)}
		}
		op.Path = d.paths[op.id]
	case op.ref == omitted:
		if len(before) == 0 || before[len(before)-1].Verb == Replace {
			return &ShapeError{Verb: op.Verb, Reason: "no operation before it in the batch has a path"}
		}
		op.Path = before[len(before)-1].Path
	}
	return checkPath(op.Verb, op.Path)
}

// define enters a path under the next id. Encoders number from 0 without a gap,
// so any other id tells that a batch got lost or came twice, which would address
// wrong values from here on.
func (d *Decoder) define(op *wireOp, maxPaths int) error {
	if op.id != len(d.paths) {
		return &ShapeError{Verb: define, Reason: fmt.Sprintf("id %d is not the next one, %d", op.id, len(d.paths))}
	}
	if op.id >= maxPaths {
		return &LimitError{What: "path definitions", Max: maxPaths}
	}
	d.paths = append(d.paths, op.Path)
	return nil
}
