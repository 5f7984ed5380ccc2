// Wire operations: the grammar of what stands between an encoder and a decoder.

package chord

import (
	"bytes"
	"fmt"
)

// define is the verb of a path definition, ["#", id, path]. Only wire batches
// have it.
const define Verb = '#'

// reference says how a wire operation names its path.
type reference byte

const (
	omitted reference = iota // the path of the operation before, in this batch
	inline                   // the path itself
	byID                     // the number of a definition
)

// wireOp is one wire operation. Its Path is set only for an inline path and in a
// definition.
type wireOp struct {
	Op
	ref reference
	id  int
}

// next reads the next operation of the batch, whose n-th it is. It returns false
// at the end of the batch and after an error.
func (p *parser) next(op *wireOp, n int) bool {
	if n == 0 {
		if len(p.data) > p.limits.MaxBytes {
			p.fail(&LimitError{What: "bytes", Max: p.limits.MaxBytes})
		}
		p.expect('[')
	}
	if p.accept(']') {
		if p.peek(); p.pos < len(p.data) {
			p.syntax(p.pos, "data after the batch")
		}
		return false
	}
	if n > 0 {
		p.expect(',')
	}
	if n >= p.limits.MaxOps {
		p.fail(&LimitError{What: "operations", Max: p.limits.MaxOps})
	}
	p.operation(op)
	if n > 0 && op.Verb == Replace {
		p.shape(op, "not the first operation of its batch")
	}
	return p.err == nil
}

// operation reads one wire operation.
//
// The grammar tells the forms of a verb apart by arity, which is known only at
// the end. One byte of the first argument decides nevertheless, except where it
// begins something that can be a path or the argument proper: see pathFirst.
func (p *parser) operation(op *wireOp) {
	*op = wireOp{}
	if !p.accept('[') {
		p.mistyped(op, "not an array")
	}
	op.Verb = p.verb()
	switch op.Verb {
	case Replace:
		p.argument(op)
		op.Value = p.value(0)
	case define:
		p.argument(op)
		op.id = p.integer(op, "id")
		p.argument(op)
		op.Path = p.path(op)
	case Set:
		p.reference(op, p.pathFirst())
		p.argument(op)
		op.Value = p.value(0)
	case Delete:
		p.reference(op, p.peek() == ',')
	case Append:
		p.reference(op, p.first() != '"')
		p.argument(op)
		op.Text = p.text(op)
	case Truncate:
		p.reference(op, p.pathFirst())
		p.argument(op)
		op.Count = p.integer(op, "count")
	case Splice:
		p.reference(op, p.pathBeforeSplice())
		p.argument(op)
		op.Index = p.integer(op, "index")
		p.argument(op)
		op.Remove = p.integer(op, "number of removed elements")
		p.argument(op)
		op.Items = p.items(op)
	case Move:
		p.reference(op, p.pathFirst())
		p.argument(op)
		op.Perm = p.permutation(op)
	}
	if p.peek() == ',' {
		p.shape(op, "too many elements")
	}
	p.expect(']')
}

func (p *parser) shape(op *wireOp, reason string) {
	p.fail(&ShapeError{Verb: op.Verb, Path: op.Path, Reason: reason})
}

// mistyped is shape for what comes next, if that is a value at all.
func (p *parser) mistyped(op *wireOp, reason string) {
	if c := p.peek(); c == 0 || bytes.IndexByte([]byte(`{["-0123456789tfn`), c) < 0 {
		p.syntax(p.pos, "expected a value")
	}
	p.shape(op, reason)
}

// verb reads the first element of an operation.
func (p *parser) verb() Verb {
	if p.peek() == ']' {
		p.fail(&ShapeError{Reason: "is empty"})
		return 0
	}
	if p.peek() != '"' {
		p.mistyped(&wireOp{}, "does not begin with a verb")
		return 0
	}
	// A verb is one letter, which JSON could also spell with an escape.
	name := p.string()
	if p.err == nil && (len(name) != 1 || !Verb(name[0]).valid() && Verb(name[0]) != define) {
		p.fail(&ShapeError{Reason: "unknown verb " + quote(name)})
	}
	if p.err != nil {
		return 0
	}
	return Verb(name[0])
}

// argument consumes the comma before an element that has to be there.
func (p *parser) argument(op *wireOp) {
	if p.peek() == ']' {
		p.shape(op, "too few elements")
	}
	p.expect(',')
}

// reference reads the path or id of an operation if it has one.
func (p *parser) reference(op *wireOp, explicit bool) {
	if !explicit {
		return
	}
	p.argument(op)
	if p.peek() == '[' {
		op.ref = inline
		op.Path = p.path(op)
		return
	}
	op.ref = byID
	op.id = p.integer(op, "path id")
}

// path reads a path, whose segments must not be reserved.
func (p *parser) path(op *wireOp) Path {
	if !p.accept('[') {
		p.mistyped(op, "path is not an array")
	}
	path := Path{}
	if p.accept(']') {
		return path
	}
	for p.err == nil {
		if len(path) >= p.limits.MaxPathDepth {
			p.fail(&LimitError{What: "segments in a path", Max: p.limits.MaxPathDepth})
			break
		}
		seg := p.segment(op)
		path = append(path, seg)
		if seg.reserved() {
			p.fail(&UnsafePathError{Verb: op.Verb, Path: path, Segment: seg})
		}
		if p.accept(']') {
			break
		}
		p.expect(',')
	}
	return path
}

func (p *parser) segment(op *wireOp) Segment {
	if p.peek() == '"' {
		return Key(p.string())
	}
	return Index(p.integer(op, "path segment"))
}

func (p *parser) integer(op *wireOp, what string) int {
	pos := p.pos
	n, ok := p.count()
	if !ok && p.err == nil {
		p.pos = pos
		p.mistyped(op, what+" is not an integer of 0 or more")
	}
	return n
}

func (p *parser) text(op *wireOp) string {
	if p.peek() != '"' {
		p.mistyped(op, "text is not a string")
		return ""
	}
	if p.borrow {
		return asString(p.quoted())
	}
	return p.string()
}

func (p *parser) items(op *wireOp) []any {
	if p.peek() != '[' {
		p.mistyped(op, "items are not an array")
		return nil
	}
	return p.array(1)
}

func (p *parser) permutation(op *wireOp) []int {
	if !p.accept('[') {
		p.mistyped(op, "permutation is not an array")
	}
	perm := []int{}
	if p.accept(']') {
		return perm
	}
	for p.err == nil {
		perm = append(perm, p.integer(op, "permutation's element"))
		if p.accept(']') {
			break
		}
		p.expect(',')
	}
	if p.err == nil && !isPermutation(perm) {
		p.shape(op, fmt.Sprintf("%d elements are not a permutation", len(perm)))
	}
	return perm
}
