// The explicit producer: a document that is changed through methods.

package chord

import "slices"

// Document is a JSON document that records its changes. Flush returns what
// happened since the last Flush, coalesced: a field written a hundred times is
// one operation, appended texts join, what happens inside a value that is new
// itself is part of it. A method costs O(path + argument), whatever the size of
// the document and of the text it appends to, except for the elements that a
// splice in the middle of an array moves.
//
// A Document is made by [NewDocument]. It must not be copied, nor used by two
// goroutines at a time. It needs no closing.
//
// The methods return the errors of [Apply], and one that fails has changed
// nothing. A value may be any Go value that encoding/json can marshal: the
// document keeps a copy, made by [Plain].
type Document struct {
	applier applier
	changes changes
	base    bool // the next Flush begins with a Replace
}

// NewDocument returns a document that holds a copy of value. Its first Flush is
// a base batch.
func NewDocument(value any) (*Document, error) {
	d := &Document{applier: applier{texts: &slider{}}}
	if err := d.Replace(value); err != nil {
		return nil, err
	}
	return d, nil
}

// Value returns the document. It belongs to d, and changes with it: do not
// modify it.
func (d *Document) Value() any {
	d.settle()
	return d.applier.doc
}

// Rebase makes the next Flush a base batch, which any replica can start from.
func (d *Document) Rebase() {
	d.settle()
	d.base = true
	d.changes.reset()
}

// Replace replaces the complete document by a copy of value. The next Flush is a
// base batch.
func (d *Document) Replace(value any) error {
	v, err := Plain(value)
	if err != nil {
		return err
	}
	d.Rebase()
	d.applier.doc = v
	return nil
}

// Set sets the property or element at path to a copy of value. An index one past
// the end of an array appends.
func (d *Document) Set(path Path, value any) error {
	v, err := Plain(value)
	if err != nil {
		return err
	}
	op := Op{Verb: Set, Path: path, Value: v}
	holder, at, err := d.locate(&op)
	if err != nil {
		return err
	}
	if at.object == nil && at.index == len(at.array) {
		// The same as an insertion, which coalesces with others.
		array := path[:len(path)-1]
		return d.splice(&Op{Verb: Splice, Path: array, Index: at.index, Items: []any{v}})
	}
	d.applier.put(&holder, &at, v)
	d.changed(path).set()
	return nil
}

// Delete deletes the object property at path. One that does not exist is no
// error.
func (d *Document) Delete(path Path) error {
	op := Op{Verb: Delete, Path: path}
	_, at, err := d.locate(&op)
	if err != nil {
		return err
	}
	_, exists := at.get()
	if err := d.applier.delete(&op, &at); err != nil {
		return err
	}
	if exists {
		d.changed(path).set()
	}
	return nil
}

// Append appends text to the string at path. A long text is not copied but kept, and
// what it is a part of with it.
func (d *Document) Append(path Path, text string) error {
	return d.text(&Op{Verb: Append, Path: path, Text: validText(text)})
}

// Truncate removes units UTF-16 code units from the front of the string at path.
// They must be there, and the cut must not split a surrogate pair. [Units] counts
// them.
func (d *Document) Truncate(path Path, units int) error {
	return d.text(&Op{Verb: Truncate, Path: path, Count: units})
}

func (d *Document) text(op *Op) error {
	if err := Validate(op); err != nil {
		return err
	}
	n := d.changes.find(op.Path)
	if n == nil || !n.live {
		return d.settledText(op)
	}
	d.changes.visit(n)
	return d.slide(slot{c: &d.changes, n: n}, op)
}

// settledText is text for one whose value is in the document, or which no change is
// noted of.
func (d *Document) settledText(op *Op) error {
	if d.base {
		return d.applier.text(op, "")
	}
	d.applier.texts.settle(&d.applier.doc, op.Path) // from when no change was noted of it
	_, at, err := d.applier.locate(op)
	if err != nil {
		return err
	}
	s, err := textAt(op, &at)
	if err != nil {
		return err
	}
	if _, err := skipUnits(s, op.Count); err != nil {
		return op.path("%v", err)
	}
	slot := d.changed(op.Path)
	if slot.n == nil {
		return d.applier.text(op, "")
	}
	slot.n.text.set(s)
	slot.n.live = true
	d.changes.live = append(d.changes.live, slot.n)
	return d.slide(slot, op)
}

// slide changes a live text.
func (d *Document) slide(s slot, op *Op) error {
	text := &s.n.text
	from, err := text.skip(op.Count)
	if err != nil {
		return op.path("%v", err)
	}
	if from == 0 && op.Text == "" {
		return nil
	}
	s.text(text.length, from, op.Count)
	text.slide(from, op.Text)
	return nil
}

// settle brings the live texts into the document. While a text only slides it
// lives outside, because putting a string into an any is an allocation.
func (d *Document) settle() {
	d.applier.texts.settle(&d.applier.doc, nil)
	for _, n := range d.changes.live {
		if at, ok := lookup(&d.applier.doc, n.path); ok {
			at.put(n.text.text())
		}
		n.live = false
	}
	clear(d.changes.live)
	d.changes.live = d.changes.live[:0]
}

// Splice replaces, in the array at path, remove elements from index on by copies
// of items.
func (d *Document) Splice(path Path, index, remove int, items ...any) error {
	op := Op{Verb: Splice, Path: path, Index: index, Remove: remove, Items: make([]any, len(items))}
	for i, item := range items {
		v, err := Plain(item)
		if err != nil {
			return err
		}
		op.Items[i] = v
	}
	return d.splice(&op)
}

func (d *Document) splice(op *Op) error {
	holder, at, err := d.locate(op)
	if err != nil {
		return err
	}
	array, err := spliced(op, &at)
	if err != nil || op.Remove == 0 && len(op.Items) == 0 {
		return err
	}
	// Before the splice, because it may have to note what is there now.
	d.changed(op.Path).splice(op.Index, op.Remove, len(op.Items), len(array))
	return d.applier.splice(op, &holder, &at)
}

// Move reorders the array at path so that new[i] is old[perm[i]].
func (d *Document) Move(path Path, perm []int) error {
	op := Op{Verb: Move, Path: path, Perm: slices.Clone(perm)}
	holder, at, err := d.locate(&op)
	if err != nil {
		return err
	}
	if _, err := moved(&op, &at); err != nil {
		return err
	}
	d.changed(path).move(op.Perm)
	return d.applier.move(&op, &holder, &at)
}

// Flush appends to dst the operations that make the document of the last Flush the
// one of now: none when nothing was changed, and now and then some when changes
// cancelled each other. The first Flush, the one after Rebase or Replace, and one
// with more than 4096 separate changes are base batches.
//
// The operations own their containers and share nothing with the document but
// strings. With a dst that has room, numbers and texts cost no allocation.
func (d *Document) Flush(dst []Op) []Op {
	d.applier.texts.settle(&d.applier.doc, nil)
	if d.base {
		d.base = false
		return append(dst, Op{Verb: Replace, Value: clone(d.applier.doc)})
	}
	dst = d.changes.emit(dst, d.applier.doc)
	d.changes.reset()
	if d.changes.nodes > maxNodes {
		d.settle()
		d.changes.forget()
	}
	return dst
}

func (d *Document) locate(op *Op) (holder, at place, err error) {
	d.settle()
	if err := Validate(op); err != nil {
		return holder, at, err
	}
	return d.applier.locate(op)
}

// changed returns where to note a change of the value at path.
func (d *Document) changed(path Path) slot {
	if d.base {
		return slot{}
	}
	if len(d.changes.log) >= maxChanges {
		d.Rebase()
		return slot{}
	}
	return d.changes.at(path, d.applier.doc)
}
