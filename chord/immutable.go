// Applying to a new document that shares what did not change.

package chord

import (
	"maps"
	"slices"
)

// ApplyImmutable is [Apply] for a document that others are reading: it leaves
// doc and the containers in ops as they are and returns a document that shares
// all containers off the changed paths with them. On an error the result is doc.
func ApplyImmutable(doc any, ops []Op) (any, error) {
	a := applier{doc: doc, owned: &ownership{}}
	if err := a.batch(ops); err != nil {
		return doc, err
	}
	return a.doc, nil
}

// ownership is the part of a document that one ApplyImmutable has copied
// already, so that a batch copies each container once: the container at the node's
// path when own is set, and those below it that the children name. A nil
// ownership owns everything.
type ownership struct {
	own      bool
	children map[Segment]*ownership
}

// child returns the node for seg, which it makes when there is none.
func (o *ownership) child(seg Segment) *ownership {
	if o == nil {
		return nil
	}
	c := o.children[seg]
	if c == nil {
		c = &ownership{}
		if o.children == nil {
			o.children = map[Segment]*ownership{}
		}
		o.children[seg] = c
	}
	return c
}

// renew drops what is known below path, where other containers are now, and
// notes whether the one at path is owned. It returns whether it was before.
func (o *ownership) renew(path Path, own bool) (was bool) {
	if o == nil {
		return true
	}
	for _, seg := range path {
		o = o.child(seg)
	}
	was = o.own
	*o = ownership{own: own}
	return was
}

func shallowCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v != nil {
			return maps.Clone(v)
		}
	case []any:
		return slices.Clone(v)
	}
	return v
}
