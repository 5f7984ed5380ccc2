// Pending changes: what a Document has to say at its next Flush.

package chord

import "slices"

const (
	// maxChanges bounds the separate changes of one flush window. Beyond it a base
	// batch is the better message.
	maxChanges = 4096
	// maxNodes bounds the paths remembered from one window to the next.
	maxNodes = 4096
)

// changes is a log of changes in the order in which they have to be carried out,
// with a tree of paths to find the one that a new change can join.
//
// The log says where and how, and the document says what: the value of a set is
// read at Flush, so whatever happens inside a new value is part of the change
// that brought it. Only when a splice or move is about to renumber elements with
// pending changes are those values fixed before, because their paths will mean
// something else.
//
// A change may join an earlier one at its place in the log because everything
// logged between is on unrelated paths: a change further up would have swallowed
// the earlier one, and one further down been swallowed by it.
type changes struct {
	log    []change
	root   node
	window int     // number of the flush window
	live   []*node // whose texts are ahead of the document
	found  *node   // by the last find
	nodes  int
}

// node is a path, with what is pending there in the flush window.
type node struct {
	path     Path
	parent   *node
	children map[Segment]*node

	// text, when live, is the value at the path, and the document has an old one.
	text slidingText
	live bool

	window int     // the one that the rest is about
	change int     // 1 + index in the log, 0 when there is nothing to join
	logged []int   // indices in the log of all that a new value here makes void
	below  []*node // children visited
}

type changeKind byte

const (
	kindSwallowed changeKind = iota // by a change further up
	kindSet                         // set or deleted
	kindText
	kindSplice
	kindMove
)

// change is one entry of the log.
type change struct {
	kind changeKind
	node *node

	// A text is the published one without its first cut code units, of which the
	// first kept bytes of the text of now remain, and what was appended.
	cut, kept int

	// A splice replaced remove elements from index on by the inserted ones that
	// are there now.
	index, remove, inserted int

	perm []int

	fixed  bool // value and exists are here and no more in the document
	exists bool
	value  any // of a splice, the inserted elements
}

// at returns the slot for changes of the value at path, an empty one when it is
// inside a value that Flush will send complete. doc is the document of now.
func (c *changes) at(path Path, doc any) slot {
	n := &c.root
	c.visit(n)
	for _, seg := range path {
		if c.covers(n, seg) {
			return slot{}
		}
		child := n.children[seg]
		if child == nil {
			child = &node{parent: n, path: append(slices.Clip(n.path), seg)}
			if n.children == nil {
				n.children = make(map[Segment]*node)
			}
			n.children[seg] = child
			c.nodes++
		}
		c.visit(child)
		n = child
	}
	return slot{c: c, n: n, doc: doc}
}

// find returns the node for path, if there is one.
func (c *changes) find(path Path) *node {
	if c.found != nil && c.found.path.Equal(path) {
		return c.found
	}
	n := &c.root
	for _, seg := range path {
		if n = n.children[seg]; n == nil {
			return nil
		}
	}
	c.found = n
	return n
}

// visit makes n and those above it nodes of this window.
func (c *changes) visit(n *node) {
	if n.window == c.window {
		return
	}
	n.window, n.change, n.logged, n.below = c.window, 0, n.logged[:0], n.below[:0]
	if n.parent != nil {
		c.visit(n.parent)
		n.parent.below = append(n.parent.below, n)
	}
}

// covers reports whether the pending change at n sends the value at seg in it.
func (c *changes) covers(n *node, seg Segment) bool {
	ch := c.pending(n)
	if ch == nil || ch.kind == kindText {
		return false
	}
	return ch.kind == kindSet || ch.index <= seg.index && seg.index < ch.index+ch.inserted
}

func (c *changes) pending(n *node) *change {
	if n.change == 0 {
		return nil
	}
	return &c.log[n.change-1]
}

// anyBelow reports whether there are changes below n whose paths are those of now.
func (c *changes) anyBelow(n *node) bool {
	return slices.ContainsFunc(n.below, func(child *node) bool {
		return len(child.logged) > 0 || c.anyBelow(child)
	})
}

// swallow drops the changes at and below n.
func (c *changes) swallow(n *node) {
	for _, i := range n.logged {
		c.log[i] = change{kind: kindSwallowed}
	}
	n.change, n.logged = 0, n.logged[:0]
	for _, child := range n.below {
		c.swallow(child)
	}
}

// fix takes the value of the pending change at n from doc, since something else
// is about to happen there.
func (c *changes) fix(n *node, doc any) {
	ch := c.pending(n)
	if ch == nil {
		return
	}
	ch.value, ch.exists = current(ch, doc)
	if ch.kind == kindSplice {
		ch.value = cloneItems(ch.items(ch.value))
	} else {
		ch.value = clone(ch.value)
	}
	ch.fixed = true
	n.change = 0
}

// fixBelow fixes the changes below n, whose elements are about to be renumbered,
// and puts them in the account of n: a value that comes to one of their paths
// later has nothing to do with them.
func (c *changes) fixBelow(n *node, doc any) {
	for _, child := range n.below {
		c.fix(child, doc)
		c.fixBelow(child, doc)
		n.logged = append(n.logged, child.logged...)
		child.logged = child.logged[:0]
	}
}

// items returns the inserted elements of a splice in its array.
func (ch *change) items(array any) []any {
	elements, _ := array.([]any)
	return elements[ch.index : ch.index+ch.inserted]
}

// forget drops all paths. None may be live.
func (c *changes) forget() { c.root, c.found, c.nodes = node{}, nil, 0 }

// reset begins a window.
func (c *changes) reset() {
	clear(c.log)
	c.log = c.log[:0]
	c.window++
}

// emit appends the operations of the window to dst.
func (c *changes) emit(dst []Op, doc any) []Op {
	for i := range c.log {
		ch := &c.log[i]
		if ch.kind == kindText && ch.node.live && !ch.fixed {
			// Apart, because a string costs an allocation to become an any.
			dst = ch.emitText(dst, &ch.node.text)
			continue
		}
		v, exists := ch.value, ch.exists
		if !ch.fixed && ch.kind != kindSwallowed {
			v, exists = current(ch, doc)
		}
		switch ch.kind {
		case kindSet:
			if !exists {
				dst = append(dst, Op{Verb: Delete, Path: ch.node.path})
			} else {
				dst = append(dst, Op{Verb: Set, Path: ch.node.path, Value: ch.own(v)})
			}
		case kindText:
			text, _ := v.(string)
			dst = ch.emitText(dst, &slidingText{current: text, length: len(text)})
		case kindSplice:
			dst = ch.emitSplice(dst, v)
		case kindMove:
			dst = append(dst, Op{Verb: Move, Path: ch.node.path, Perm: ch.perm})
		}
	}
	return dst
}

// own returns v as a value that the document does not share.
func (ch *change) own(v any) any {
	if ch.fixed {
		return v
	}
	return clone(v)
}

func (ch *change) emitText(dst []Op, text *slidingText) []Op {
	if ch.kept == 0 && ch.cut > 0 {
		return append(dst, Op{Verb: Set, Path: ch.node.path, Value: text.text()})
	}
	if ch.cut > 0 {
		dst = append(dst, Op{Verb: Truncate, Path: ch.node.path, Count: ch.cut})
	}
	if ch.kept < text.length {
		dst = append(dst, Op{Verb: Append, Path: ch.node.path, Text: text.after(ch.kept)})
	}
	return dst
}

func (ch *change) emitSplice(dst []Op, v any) []Op {
	if ch.remove == 0 && ch.inserted == 0 {
		return dst
	}
	items, _ := v.([]any)
	if !ch.fixed {
		items = cloneItems(ch.items(v))
	}
	return append(dst, Op{Verb: Splice, Path: ch.node.path, Index: ch.index, Remove: ch.remove, Items: items})
}

// current returns the value of now at the path of ch, and whether there is one.
func current(ch *change, doc any) (any, bool) {
	if ch.node.live {
		return ch.node.text.text(), true
	}
	at, ok := lookup(&doc, ch.node.path)
	if !ok {
		return nil, false
	}
	return at.get()
}
