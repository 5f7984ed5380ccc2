// Difference of two arrays: a splice, two, a move, or changes of elements.

package chord

import "slices"

// array compares two arrays. What they have in common at both ends stays. For
// what is between it takes what looks shortest: comparing the elements in pairs
// from the front, dropping at the front and adding at the end, reordering, or
// replacing all.
func (d *differ) array(old, next []any) {
	first, last := commonEnds(old, next)
	from, to := old[first:len(old)-last], next[first:len(next)-last]
	if len(from) == 0 && len(to) == 0 {
		return
	}
	mark := len(d.ops)
	best := opSize + itemsSize(to)
	how := func() { d.splice(first, len(from), to) }
	if size := d.pairs(first, from, to, best); size < best {
		best, how = size, nil
	}
	if kept := slid(from, to); kept > 0 && 2*opSize+itemsSize(to[kept:]) < best {
		best = 2*opSize + itemsSize(to[kept:])
		how = func() {
			d.splice(first, len(from)-kept, nil)
			d.splice(first+kept, 0, to[kept:])
		}
	}
	if len(from) == len(to) && opSize+indexSize*len(old) < best {
		if perm := permutation(from, to); perm != nil {
			how = func() { d.emit(Op{Verb: Move, Perm: embed(perm, first, len(old))}) }
		}
	}
	if how != nil {
		d.ops = d.ops[:mark]
		how()
	}
}

func (d *differ) splice(index, remove int, items []any) {
	if remove > 0 || len(items) > 0 {
		d.emit(Op{Verb: Splice, Index: index, Remove: remove, Items: cloneItems(items)})
	}
}

// slid returns how many of the last elements of from are the first of to, or 0
// when that is none or not found soon.
func slid(from, to []any) int {
	const maxCandidates = 16
	candidates := 0
	for i := max(1, len(from)-len(to)); i < len(from) && candidates < maxCandidates; i++ {
		if equal(from[i], to[0]) {
			candidates++
			if slices.EqualFunc(from[i:], to[:len(from)-i], equal) {
				return len(from) - i
			}
		}
	}
	return 0
}

// commonEnds returns how many elements are equal at the front, and of the others
// at the end.
func commonEnds(old, next []any) (first, last int) {
	shorter := min(len(old), len(next))
	for first < shorter && equal(old[first], next[first]) {
		first++
	}
	for last < shorter-first && equal(old[len(old)-1-last], next[len(next)-1-last]) {
		last++
	}
	return first, last
}

// pairs compares from and to element by element, from index first on, and splices
// what one has more than the other. It stops when the operations are not smaller
// than limit, and returns their size.
func (d *differ) pairs(first int, from, to []any, limit int) (size int) {
	mark := len(d.ops)
	both := min(len(from), len(to))
	for i := range both {
		d.at(Index(first+i), from[i], to[i])
		for ; mark < len(d.ops); mark++ {
			size += sizeOf(&d.ops[mark])
		}
		if size >= limit {
			return size
		}
	}
	if len(from) == len(to) {
		return size
	}
	d.splice(first+both, len(from)-both, to[both:])
	return size + sizeOf(&d.ops[mark])
}

// permutation returns perm with to[i] equal to from[perm[i]], or nil.
func permutation(from, to []any) []int {
	if slices.IndexFunc(from, func(v any) bool { return equal(v, to[0]) }) < 0 {
		return nil // without reading them all
	}
	places := make(map[string][]int, len(from))
	var key []byte
	for i, v := range from {
		key, _ = appendValue(key[:0], v, 0) // plain values have JSON
		places[string(key)] = append(places[string(key)], i)
	}
	perm := make([]int, len(to))
	for i, v := range to {
		key, _ = appendValue(key[:0], v, 0)
		left := places[string(key)]
		if len(left) == 0 {
			return nil
		}
		perm[i], places[string(key)] = left[0], left[1:]
	}
	return perm
}

// embed makes a permutation of n elements that moves those from first on by perm.
func embed(perm []int, first, n int) []int {
	full := make([]int, n)
	for i := range full {
		full[i] = i
	}
	for i, from := range perm {
		full[first+i] = first + from
	}
	return full
}

// Sizes on the wire, in bytes, as far as choosing needs them.
const (
	opSize    = 12 // brackets, verb, path id
	indexSize = 4  // an element of a permutation
)

func sizeOf(op *Op) int {
	return opSize + sizeOfValue(op.Value) + len(op.Text) + itemsSize(op.Items) + indexSize*len(op.Perm)
}

func itemsSize(items []any) int {
	size := 0
	for _, item := range items {
		size += 1 + sizeOfValue(item)
	}
	return size
}

func sizeOfValue(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case float64:
		return 6
	case []any:
		return 2 + itemsSize(v)
	case map[string]any:
		size := 2
		for key, member := range v {
			size += len(key) + 4 + sizeOfValue(member)
		}
		return size
	}
	return 4
}
