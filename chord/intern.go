// The encoder's path table: which paths have been used, and by which number a
// path goes from its second use on.

package chord

const usedOnce = -1

// interner numbers paths, which it knows by their JSON. The zero value is an
// empty table.
type interner struct {
	ids  map[string]int // id, or usedOnce
	next int
}

// use counts an explicit use of path. The path goes by id when id ≥ 0; defined
// says that this use is the one that defines it.
//
// A full table leaves new paths inline rather than forget one: the decoder at the
// other end cannot be told to forget.
func (t *interner) use(path []byte) (id int, defined bool) {
	id, known := t.ids[string(path)]
	switch {
	case known && id != usedOnce:
		return id, false
	case known:
		id = t.next
		t.next++
		t.ids[string(path)] = id
		return id, true
	case len(t.ids) < DefaultMaxPaths:
		if t.ids == nil {
			t.ids = make(map[string]int)
		}
		t.ids[string(path)] = usedOnce
	}
	return usedOnce, false
}

func (t *interner) reset() {
	clear(t.ids)
	t.next = 0
}
