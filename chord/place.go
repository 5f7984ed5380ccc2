// Places: where in a document a path leads, and how to read and write there.

package chord

import "fmt"

// place is a position in a document that can hold a value: the root, a property
// of object or an element of array (one past the end included).
type place struct {
	object map[string]any // with key
	key    string
	array  []any // with index
	index  int
	root   *any
}

// get returns the value at the place, and whether there is one.
func (p *place) get() (v any, ok bool) {
	switch {
	case p.root != nil:
		return *p.root, true
	case p.object != nil:
		v, ok = p.object[p.key]
		return v, ok
	case p.index < len(p.array):
		return p.array[p.index], true
	}
	return nil, false
}

// put writes v. An element one past the end makes a longer array, which put
// returns for the caller to store where the array is.
func (p *place) put(v any) (grown []any) {
	switch {
	case p.root != nil:
		*p.root = v
	case p.object != nil:
		p.object[p.key] = v
	case p.index < len(p.array):
		p.array[p.index] = v
	default:
		return append(p.array, v)
	}
	return nil
}

// child returns the place that seg names in container.
func child(container any, seg Segment) (p place, reason string) {
	switch c := container.(type) {
	case map[string]any:
		if seg.isIndex {
			return p, fmt.Sprintf("index %d into an object", seg.index)
		}
		if c == nil {
			return p, "object is a nil map"
		}
		return place{object: c, key: seg.key}, ""
	case []any:
		if !seg.isIndex {
			return p, "key " + quote(seg.key) + " into an array"
		}
		if seg.index > len(c) {
			return p, fmt.Sprintf("index %d is beyond the end of %d elements", seg.index, len(c))
		}
		return place{array: c, index: seg.index}, ""
	}
	return p, "parent is " + kind(container)
}

// lookup returns the place that path leads to in doc, and whether there is one.
func lookup(doc *any, path Path) (place, bool) {
	at := place{root: doc}
	for _, seg := range path {
		container, _ := at.get()
		next, reason := child(container, seg)
		if reason != "" {
			return at, false
		}
		at = next
	}
	return at, true
}

// kind names the JSON type of a value in words.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T, which is no JSON value", v)
}
