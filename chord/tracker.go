// The producer by difference: successive values in, operations out.

package chord

// Tracker turns a sequence of values into batches by comparing each with the one
// before. It is for documents that exist as Go values, a struct of results for
// instance, which their owner changes as it likes. Texts that slide cost their
// length each time: where that matters, use a [Document] or a [Batch].
//
// The zero value is ready to use. A Tracker must not be used by two goroutines
// at a time. It needs no closing.
type Tracker struct {
	last      any
	published bool // last is what replicas have
}

// Flush returns the operations that make the value of the last Flush the given
// one, nothing when they are equal. The first Flush, the one after Rebase, and one
// with more than 4096 operations return a base batch. value may be any Go value that encoding/json can marshal;
// the Tracker keeps a copy, made by [Plain]. On an error, a [*ValueError], it
// remembers the last value still.
//
// The operations are correct always and small where that is cheap: strings become
// appends, truncations or both when the end of the old one is the beginning of
// the new one; arrays splices, moves or changes of elements, whichever looks
// shortest; objects are compared by key.
func (t *Tracker) Flush(value any) ([]Op, error) {
	next, err := Plain(value)
	if err != nil {
		return nil, err
	}
	var d differ
	if t.published {
		d.value(t.last, next)
	}
	if !t.published || len(d.ops) > maxChanges {
		d = differ{}
		d.set(next)
	}
	t.last, t.published = next, true
	return d.ops, nil
}

// Rebase makes the next Flush return a base batch, which any replica can start
// from.
func (t *Tracker) Rebase() { t.last, t.published = nil, false }
