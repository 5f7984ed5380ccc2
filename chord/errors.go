// Errors: what a caller can tell apart, and in which words.

package chord

import (
	"errors"
	"fmt"
)

// ErrNeedBase is returned by a [Decoder], [Encoder] or [Replica] that has
// returned an error before, and by a Replica that has no value yet, for every
// batch that does not begin with a [Replace]. The remedy is to ask the producer
// for a base batch.
var ErrNeedBase = errors.New("chord: this stream has to continue with a base batch")

// PathError says that an operation cannot be carried out at its path: a parent
// is missing, the value there has another type, an index is out of range.
type PathError struct {
	Verb   Verb
	Path   Path
	Reason string
}

func (e *PathError) Error() string {
	return fmt.Sprintf("chord: %v at %v: %s", e.Verb, e.Path, e.Reason)
}

// UnsafePathError says that a path goes through one of the keys __proto__,
// constructor and prototype, by which a JavaScript replica could be made to
// change more than its document.
type UnsafePathError struct {
	Verb    Verb // '#' for a path definition
	Path    Path
	Segment Segment
}

func (e *UnsafePathError) Error() string {
	if e.Verb == define {
		return fmt.Sprintf("chord: path definition %v: key %v is reserved", e.Path, e.Segment)
	}
	return fmt.Sprintf("chord: %v at %v: key %v is reserved: set the nearest parent instead", e.Verb, e.Path, e.Segment)
}

// ShapeError says that an operation is not one of the vocabulary: an unknown
// verb, a wrong number of elements, an element of a wrong type or range.
type ShapeError struct {
	Verb   Verb // zero when the verb itself is wrong, '#' for a path definition
	Path   Path // nil when it is not known
	Reason string
}

func (e *ShapeError) Error() string {
	switch {
	case e.Verb == 0:
		return "chord: operation: " + e.Reason
	case e.Verb == define:
		return "chord: path definition: " + e.Reason
	case e.Path == nil:
		return fmt.Sprintf("chord: %v: %s", e.Verb, e.Reason)
	}
	return fmt.Sprintf("chord: %v at %v: %s", e.Verb, e.Path, e.Reason)
}

// SyntaxError says that bytes are not JSON as RFC 8259 has it, or hold text that a
// Go string cannot: invalid UTF-8 or a lone surrogate.
type SyntaxError struct {
	Offset int // bytes before the error
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("chord: not valid JSON at byte %d: %s", e.Offset, e.Reason)
}

// LimitError says that a batch or value goes beyond one of the [Limits].
type LimitError struct {
	What string // the limit, in words
	Max  int    // its value
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("chord: over the limit of %d %s", e.Max, e.What)
}

// ValueError says that a Go value has no JSON that a peer would accept: a NaN, a
// channel, a value nested too deep or without end.
type ValueError struct {
	Cause error
}

func (e *ValueError) Error() string { return fmt.Sprintf("chord: value has no JSON: %v", e.Cause) }

// Unwrap returns Cause.
func (e *ValueError) Unwrap() error { return e.Cause }

// BatchError says which operation of a batch failed. Cause is a [*PathError],
// [*UnsafePathError], [*ShapeError], [*SyntaxError], [*LimitError] or [*ValueError].
type BatchError struct {
	Op    int // index in the batch, counted from 0; path definitions count too
	Cause error
}

func (e *BatchError) Error() string {
	return fmt.Sprintf("%v (operation %d of the batch)", e.Cause, e.Op)
}

// Unwrap returns Cause.
func (e *BatchError) Unwrap() error { return e.Cause }
