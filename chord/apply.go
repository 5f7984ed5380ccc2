// Applying: operations to a document, in place.

package chord

import (
	"fmt"
	"slices"
	"strings"
)

// Apply carries out the batch ops on doc and returns the document, which is
// another one after a [Replace]. doc is made of nil, bool, float64, string,
// []any and map[string]any, and is changed in place; a nil doc is null. The
// containers in ops become part of it.
//
// On an error, a [*BatchError] round a [*PathError], [*UnsafePathError] or
// [*ShapeError], the operations before the failing one have been carried out:
// the document is no replica any more and has to be replaced by the next base
// batch. [ApplyImmutable] has no such state in between, and [Replica] keeps
// account of it.
func Apply(doc any, ops []Op) (any, error) {
	a := applier{doc: doc}
	err := a.batch(ops)
	return a.doc, err
}

// applier applies operations to doc.
type applier struct {
	doc   any
	texts *slider // when not nil, doc is behind for its live texts
	// borrowed says that the text of an Append must be copied to be kept.
	borrowed bool
	// owned is nil when all containers of doc may be changed. Otherwise those it
	// does not list are copied first.
	owned *ownership
}

func (a *applier) batch(ops []Op) error {
	for i := 0; i < len(ops); i++ {
		op := &ops[i]
		if op.Verb == Replace && i > 0 {
			return &BatchError{Op: i, Cause: op.shape("not the first operation of its batch")}
		}
		added, first := "", i
		if i+1 < len(ops) && slides(op, &ops[i+1]) {
			// One new string instead of two; this is what a sliding text sends.
			i++
			added = ops[i].Text
		}
		if err := a.apply(op, added); err != nil {
			return &BatchError{Op: first, Cause: err}
		}
	}
	return nil
}

// slides reports whether the two operations truncate and then append to one text.
func slides(op, next *Op) bool {
	return op.Verb == Truncate && next.Verb == Append && op.Path.Equal(next.Path)
}

// apply carries out op; added is appended to the text a Truncate leaves.
func (a *applier) apply(op *Op, added string) error {
	if err := Validate(op); err != nil {
		return err
	}
	if op.Verb == Append || op.Verb == Truncate {
		return a.text(op, added)
	}
	a.texts.settle(&a.doc, op.Path)
	if op.Verb == Replace {
		a.doc = op.Value
		a.owned.renew(nil, false)
		return nil
	}
	holder, at, err := a.locate(op)
	if err != nil {
		return err
	}
	switch op.Verb {
	case Set:
		a.owned.renew(op.Path, false)
		a.put(&holder, &at, op.Value)
		return nil
	case Delete:
		return a.delete(op, &at)
	case Splice:
		return a.splice(op, &holder, &at)
	default: // Move; Validate knows no other
		return a.move(op, &holder, &at)
	}
}

func (op *Op) path(format string, args ...any) error {
	return &PathError{Verb: op.Verb, Path: op.Path, Reason: fmt.Sprintf(format, args...)}
}

// locate finds the place op is about, and the place that holds the container it
// is in. For the root both are the same.
func (a *applier) locate(op *Op) (holder, at place, err error) {
	at = place{root: &a.doc}
	owned := a.owned
	for i, seg := range op.Path {
		container, ok := at.get()
		if !ok {
			return holder, at, op.path("%v does not exist", op.Path[:i])
		}
		if owned != nil && !owned.own {
			container = shallowCopy(container)
			at.put(container)
			owned.own = true
		}
		next, reason := child(container, seg)
		if reason != "" {
			return holder, at, op.path("%s", reason)
		}
		owned = owned.child(seg)
		holder, at = at, next
	}
	return holder, at, nil
}

// put writes v at the place at, whose container is at holder.
func (a *applier) put(holder, at *place, v any) {
	if grown := at.put(v); grown != nil {
		holder.put(grown)
	}
}

func (a *applier) delete(op *Op, at *place) error {
	if at.object == nil {
		return op.path("element of an array: use p")
	}
	a.owned.renew(op.Path, false)
	delete(at.object, at.key)
	return nil
}

// text replaces the text at op's path by what remains after its first op.Count code
// units, and op.Text and added, one of which is empty.
func (a *applier) text(op *Op, added string) error {
	added += op.Text
	t := a.texts.find(op.Path)
	if t == nil {
		holder, at, err := a.locate(op)
		if err != nil {
			return err
		}
		s, err := textAt(op, &at)
		if err != nil {
			return err
		}
		if a.texts == nil || len(s)+len(added) < minSlide {
			from, err := skipUnits(s, op.Count)
			if err != nil {
				return op.path("%v", err)
			}
			if s = s[from:] + added; a.borrowed {
				s = strings.Clone(s) // it may be added itself
			}
			a.put(&holder, &at, s)
			return nil
		}
		t = a.texts.adopt(&a.doc, op.Path, s)
	}
	from, err := t.skip(op.Count)
	if err != nil {
		return op.path("%v", err)
	}
	if t.slide(from, added); a.borrowed {
		t.gathered()
	}
	return nil
}

// textAt returns the text at the place.
func textAt(op *Op, at *place) (string, error) {
	v, ok := at.get()
	if !ok {
		return "", op.path("does not exist")
	}
	s, ok := v.(string)
	if !ok {
		return "", op.path("is %s, not a string", kind(v))
	}
	return s, nil
}

// arrayAt returns the array at the place.
func arrayAt(op *Op, at *place) ([]any, error) {
	v, ok := at.get()
	if !ok {
		return nil, op.path("does not exist")
	}
	array, ok := v.([]any)
	if !ok {
		return nil, op.path("is %s, not an array", kind(v))
	}
	return array, nil
}

// spliced returns the array that op splices, if it can be.
func spliced(op *Op, at *place) ([]any, error) {
	array, err := arrayAt(op, at)
	if err == nil && (op.Index > len(array) || op.Remove > len(array)-op.Index) {
		err = op.path("%d elements from %d on are not in an array of %d", op.Remove, op.Index, len(array))
	}
	return array, err
}

func (a *applier) splice(op *Op, holder, at *place) error {
	array, err := spliced(op, at)
	if err != nil {
		return err
	}
	if own := a.owned.renew(op.Path, true); !own {
		array = slices.Clone(array)
	}
	a.put(holder, at, slices.Replace(array, op.Index, op.Index+op.Remove, op.Items...))
	return nil
}

// moved returns the array that op reorders, if it can be.
func moved(op *Op, at *place) ([]any, error) {
	array, err := arrayAt(op, at)
	if err == nil && len(op.Perm) != len(array) {
		err = op.path("a permutation of %d does not fit an array of %d", len(op.Perm), len(array))
	}
	return array, err
}

func (a *applier) move(op *Op, holder, at *place) error {
	array, err := moved(op, at)
	if err != nil {
		return err
	}
	old := slices.Clone(array)
	if own := a.owned.renew(op.Path, true); !own {
		array = make([]any, len(old))
	}
	for i, from := range op.Perm {
		array[i] = old[from]
	}
	a.put(holder, at, array)
	return nil
}
