// Slots: how a new change joins the pending ones at its path.

package chord

// slot is where changes of one value are noted. The empty slot ignores them.
type slot struct {
	c   *changes
	n   *node
	doc any // the document of now
}

func (s slot) add(ch change) *change {
	ch.node = s.n
	s.c.log = append(s.c.log, ch)
	s.n.change = len(s.c.log)
	s.n.logged = append(s.n.logged, s.n.change-1)
	return s.c.pending(s.n)
}

// set notes that the value was set or deleted.
func (s slot) set() {
	if s.n == nil {
		return
	}
	if ch := s.c.pending(s.n); ch != nil && ch.kind == kindSet {
		return
	}
	s.c.swallow(s.n)
	s.add(change{kind: kindSet})
}

// text notes that a text of before bytes loses the first removed ones, which are
// so many code units, or has something appended.
func (s slot) text(before, removed, units int) {
	ch := s.c.pending(s.n)
	if ch == nil {
		ch = s.add(change{kind: kindText, kept: before})
	}
	if ch.kind == kindText {
		ch.cut += units
		ch.kept = max(0, ch.kept-removed)
	}
}

// splice notes that inserted elements are about to replace remove ones from index
// on, in an array of length.
func (s slot) splice(index, remove, inserted, length int) {
	if s.n == nil {
		return
	}
	ch := s.c.pending(s.n)
	if ch != nil && ch.kind == kindSet {
		return
	}
	push := index == length && remove == 0
	if ch != nil && s.joins(ch, index, remove, length) {
		ch.join(index, remove, inserted)
		return
	}
	if !push { // which renumbers nothing
		s.c.fixBelow(s.n, s.doc)
	}
	s.c.fix(s.n, s.doc)
	s.add(change{kind: kindSplice, index: index, remove: remove, inserted: inserted})
}

// joins reports whether a splice can become part of the pending one: it touches
// what that inserted, and no change is pending at an element it would renumber.
func (s slot) joins(ch *change, index, remove, length int) bool {
	end := ch.index + ch.inserted
	if index == length && end == length {
		return true
	}
	return index <= end && index+remove >= ch.index && !s.c.anyBelow(s.n)
}

// join extends a splice by another one that touches it.
func (ch *change) join(index, remove, inserted int) {
	end := ch.index + ch.inserted
	first, last := min(index, ch.index), max(index+remove, end)
	ch.remove += ch.index - first + last - end
	ch.inserted = last - first - remove + inserted
	ch.index = first
}

// move notes that the elements of an array are about to be reordered.
func (s slot) move(perm []int) {
	if s.n == nil {
		return
	}
	if ch := s.c.pending(s.n); ch != nil && ch.kind == kindSet {
		return
	}
	s.c.fixBelow(s.n, s.doc)
	s.c.fix(s.n, s.doc)
	s.add(change{kind: kindMove, perm: perm})
	s.n.change = 0 // nothing joins it
}
