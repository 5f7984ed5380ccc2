// The replica: a document that follows a stream.

package chord

// Replica holds the document that a stream of batches describes, and knows
// whether it still does. Long texts that slide cost O(bytes added) to update,
// where [Apply] copies the text.
//
// The zero value is ready to use: it has no value and wants a base batch. A
// Replica must not be copied, nor used by two goroutines at a time. It needs no
// closing.
type Replica struct {
	applier applier
	ready   bool
	ops     []Op // of Fold
}

// maxScratchOps is for how many operations a Replica keeps room between batches.
const maxScratchOps = 64

// Fold decodes one batch with d, which has seen those before, and applies it. It is
// [Decoder.Decode] and Apply for those who want the document only: appended texts go
// from wire into the document without becoming strings of their own. The errors are
// those of both. wire is not referred to afterwards.
func (r *Replica) Fold(d *Decoder, wire []byte) error {
	ops, err := d.decode(r.ops[:0], wire, true)
	if err != nil {
		return err
	}
	r.applier.borrowed = true
	err = r.Apply(ops)
	r.applier.borrowed = false
	clear(ops)
	if cap(ops) <= maxScratchOps {
		r.ops = ops
	}
	return err
}

// Apply carries out one batch, as [Apply] does. After an error, and before the
// first base batch, it answers [ErrNeedBase] to all others.
func (r *Replica) Apply(ops []Op) error {
	if !r.ready && !IsBase(ops) {
		return ErrNeedBase
	}
	if IsBase(ops) {
		r.applier.texts = &slider{} // the buffers of the old texts go with them
	}
	if err := r.applier.batch(ops); err != nil {
		*r = Replica{}
		return err
	}
	r.ready = true
	return nil
}

// Value returns the document, which the next Apply will change in place, and
// whether there is one: not before the first base batch, nor after an error.
// Strings from it stay valid.
func (r *Replica) Value() (doc any, ok bool) {
	r.applier.texts.settle(&r.applier.doc, nil)
	return r.applier.doc, r.ready
}
