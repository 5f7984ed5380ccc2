// Validation of decoded operations: everything that can be said about one
// without the document.

package chord

import "fmt"

// Validate reports whether op is an operation of the decoded vocabulary: a known
// verb, a path that is allowed for it, arguments in range. It does not look into
// Value and Items. The error is a [*ShapeError] or an [*UnsafePathError].
//
// [Apply] and [Encoder] validate what they are given.
func Validate(op *Op) error {
	switch op.Verb {
	case Replace:
		return nil
	case Set, Delete, Append:
		return checkPath(op.Verb, op.Path)
	case Truncate:
		if op.Count < 0 {
			return op.shape("count %d is negative", op.Count)
		}
		return checkPath(op.Verb, op.Path)
	case Splice:
		if op.Index < 0 || op.Remove < 0 {
			return op.shape("index %d or count %d is negative", op.Index, op.Remove)
		}
		return checkPath(op.Verb, op.Path)
	case Move:
		if !isPermutation(op.Perm) {
			return op.shape(notPermutation)
		}
		return checkPath(op.Verb, op.Path)
	}
	return &ShapeError{Reason: fmt.Sprintf("unknown verb %q", string([]byte{byte(op.Verb)}))}
}

// ValidateWire reports whether wire is a batch of the wire vocabulary, within the
// default limits. It is what a [Decoder] checks except for what depends on the
// batches before: whether ids have a definition. The error is a [*BatchError].
func ValidateWire(wire []byte) error {
	p := parser{data: wire, limits: Limits{}.withDefaults()}
	n := 0
	for op := (wireOp{}); p.next(&op, n); n++ {
		if op.ref == inline {
			p.fail(checkPath(op.Verb, op.Path))
		}
		if p.err != nil {
			break
		}
	}
	if p.err != nil {
		return &BatchError{Op: n, Cause: p.err}
	}
	return nil
}

const notPermutation = "not a permutation"

func (op *Op) shape(format string, args ...any) error {
	return &ShapeError{Verb: op.Verb, Path: op.Path, Reason: fmt.Sprintf(format, args...)}
}

// checkPath reports whether path can be the path of an operation with verb v.
func checkPath(v Verb, path Path) error {
	if len(path) == 0 && v != Splice && v != Move {
		return &ShapeError{Verb: v, Path: path, Reason: "cannot address the root: use r"}
	}
	if len(path) > DefaultMaxPathDepth {
		return &ShapeError{Verb: v, Path: path, Reason: fmt.Sprintf("path has more than %d segments", DefaultMaxPathDepth)}
	}
	for _, seg := range path {
		if seg.reserved() {
			return &UnsafePathError{Verb: v, Path: path, Segment: seg}
		}
		if seg.index < 0 {
			return &ShapeError{Verb: v, Path: path, Reason: fmt.Sprintf("index %d is negative", seg.index)}
		}
	}
	return nil
}

// isPermutation reports whether perm holds each of 0 … len-1 once.
func isPermutation(perm []int) bool {
	var small [256]bool
	seen := small[:min(len(perm), len(small))]
	if len(perm) > len(small) {
		seen = make([]bool, len(perm))
	}
	for _, i := range perm {
		if i < 0 || i >= len(perm) || seen[i] {
			return false
		}
		seen[i] = true
	}
	return true
}
