// Encoding: decoded operations to a JSON array of wire operations.

package chord

// Encoder turns the batches of one stream into JSON. It holds what the decoder
// at the other end will know: the numbers of paths used before. So there is one
// for each stream, every batch it returns has to be sent, and in that order.
//
// The zero value is ready to use. An Encoder must not be used by two goroutines
// at a time. It needs no closing.
//
// After an error the Encoder answers [ErrNeedBase] until a batch that begins
// with a [Replace].
type Encoder struct {
	paths  interner
	broken bool
	batch  Batch
}

// Encode appends the batch ops to dst as a JSON array and returns the extended
// buffer. On an error, one of those of [Validate] or what is wrong with a value,
// wrapped in a [*BatchError], it returns dst as it was.
//
// Value and Items may hold any Go value that encoding/json can marshal.
func (e *Encoder) Encode(dst []byte, ops []Op) ([]byte, error) {
	b := e.Begin(dst)
	for i := range ops {
		b.Add(&ops[i])
	}
	return b.End()
}

// Begin starts a batch that is written operation by operation, without an [Op]
// for each. The Batch belongs to the Encoder and is valid until End; beginning
// another one before End gives up the first as if it had failed.
func (e *Encoder) Begin(dst []byte) *Batch {
	b := &e.batch
	if b.open && b.count > 0 {
		e.broken = true
	}
	*b = Batch{
		enc: e, open: true,
		buf: append(dst, '['), start: len(dst),
		path: b.path[:0], previous: b.previous[:0],
	}
	return b
}
