// Decoding: a JSON array of wire operations to decoded operations.

package chord

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

	paths  []Path // by id
	broken bool
	last   int // operations in the last batch
	parser parser
}

// maxKept bounds what a decoder keeps for reuse between batches, in bytes.
const maxKept = 64 << 10

// Decode reads one batch. The bytes may come from anyone: they are checked
// against the wire grammar and the limits, and an error that is not ErrNeedBase
// is a [*BatchError] round a [*SyntaxError], [*ShapeError], [*UnsafePathError],
// [*PathError] or [*LimitError]. The operations do not refer to wire, but may
// share their paths with those of other batches.
func (d *Decoder) Decode(wire []byte) ([]Op, error) {
	d.parser = parser{data: wire, limits: d.Limits.withDefaults(), scratch: d.parser.scratch[:0]}
	ops, err := d.batch()
	d.parser.data = nil
	if cap(d.parser.scratch) > maxKept {
		d.parser.scratch = nil
	}
	if err != nil {
		d.broken = true
		return nil, err
	}
	d.last = len(ops)
	return ops, nil
}

func (d *Decoder) batch() ([]Op, error) {
	p := &d.parser
	if len(p.data) > p.limits.MaxBytes {
		return nil, &BatchError{Cause: &LimitError{What: "bytes", Max: p.limits.MaxBytes}}
	}
	ops := make([]Op, 0, min(d.last, 64))
	var previous Path // nil at the beginning and after a Replace
	p.expect('[')
	n := 0
	for more := !p.accept(']'); more; n++ {
		if n == p.limits.MaxOps {
			p.fail(&LimitError{What: "operations", Max: p.limits.MaxOps})
		}
		op := p.operation()
		if p.err == nil {
			if n == 0 && d.broken && op.Verb != Replace {
				return nil, ErrNeedBase
			}
			if err := d.resolve(&op, n, previous); err != nil {
				p.fail(err)
			}
		}
		if p.err != nil {
			return nil, &BatchError{Op: n, Cause: p.err}
		}
		if op.Verb != define {
			ops = append(ops, op.Op)
			previous = op.Path
		}
		if more = !p.accept(']'); more {
			p.expect(',')
		}
	}
	if p.peek(); p.pos < len(p.data) {
		p.syntax(p.pos, "data after the batch")
	}
	if p.err != nil {
		return nil, &BatchError{Op: n, Cause: p.err}
	}
	return ops, nil
}

// resolve gives op its complete path, or enters it into the table.
func (d *Decoder) resolve(op *wireOp, n int, previous Path) error {
	switch {
	case op.Verb == Replace:
		if n > 0 {
			return &ShapeError{Verb: Replace, Reason: "not the first operation of its batch"}
		}
		d.broken = false
		clear(d.paths)
		d.paths = d.paths[:0]
		return nil
	case op.Verb == define:
		return d.define(op)
	case op.ref == byID:
		if op.id >= len(d.paths) {
			return &ShapeError{Verb: op.Verb, Reason: "path id has no definition"}
		}
		op.Path = d.paths[op.id]
	case op.ref == omitted:
		if previous == nil {
			return &ShapeError{Verb: op.Verb, Reason: "no operation before it in the batch has a path"}
		}
		op.Path = previous
	}
	return checkPath(op.Verb, op.Path)
}

// define enters a path under the next id. Encoders number from 0 without a gap,
// so any other id tells that a batch got lost or came twice, which would address
// wrong values from here on.
func (d *Decoder) define(op *wireOp) error {
	if op.id != len(d.paths) {
		return &ShapeError{Verb: define, Path: op.Path, Reason: "id is not the next one"}
	}
	if op.id == d.parser.limits.MaxPaths {
		return &LimitError{What: "path definitions", Max: op.id}
	}
	d.paths = append(d.paths, op.Path)
	return nil
}
