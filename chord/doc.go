// Package chord keeps JSON documents on two machines equal by sending small
// changes. It speaks the Chord delta vocabulary as the JavaScript package
// @earendil-works/chord publishes it under ./delta: each side can produce what the
// other one folds.
//
// There is one writer, which has the document, and any number of replicas, each
// behind an ordered, reliable stream:
//
//	Document, Tracker or Batch ─▶ []Op ─▶ Encoder ─▶ JSON ─▶ Decoder ─▶ []Op ─▶ Replica
//
// Most programs need one of the producers and an [Encoder] at one end, and a
// [Decoder] and a [Replica] at the other:
//
//   - [Document] is changed by methods (Set, Append, Splice, …) and remembers what
//     happened. Text that grows and slides costs what is added.
//   - [Tracker] is given the whole value each time and finds the difference. It is
//     for values that live as Go structs.
//   - [Batch] writes operations as JSON at once, for a program that knows what
//     changed, such as one that counts positions in a stream of output. It
//     allocates nothing.
//
// [Replica.Fold] is decoding and applying in one, for those who want the document and
// not the operations.
//
// # Shape
//
// An [Op] has a [Verb], a [Path] and what the verb needs. A batch is a []Op, all
// that happened between two flushes. One that begins with a [Replace] is a base
// batch: any replica can start from it. The first batch of a stream is one;
// Rebase makes the next batch one, for a new replica or one that got lost.
//
// On the wire a batch is a JSON array, in which paths that come again are numbers
// and the path of the operation before is left out. The numbers belong to the
// stream, so there is one Encoder and one Decoder for each, and every batch has to
// arrive, in order. SPEC.md beside the code has the format in full.
//
// Documents are plain JSON values as encoding/json makes them: nil, bool, float64,
// string, []any and map[string]any. Integers beyond 2^53 lose digits, the order of
// keys is not kept, and -0 is 0. [Truncate] counts UTF-16 code units as JavaScript
// does; [Units] counts them in Go.
//
// # Errors
//
// After an error of decoding or applying, a stream is over: the replica is not what
// the writer has. The Decoder, the Replica and the Encoder then answer [ErrNeedBase]
// until a base batch comes. Which operation failed, and why, is in a [BatchError],
// whose cause [errors.As] finds: [PathError], [UnsafePathError], [ShapeError],
// [SyntaxError], [LimitError] or [ValueError].
//
// # Trust
//
// A batch may come from anyone. What is not in the vocabulary is an error, as is an
// operation that does not fit the document; nothing panics, no array gets holes, and
// memory is bounded by a multiple of the batch and by [Limits]. Paths through
// __proto__, constructor and prototype are refused at both ends, so that a replica
// in JavaScript is safe to feed. Within values such keys are data.
//
// Go strings are UTF-8. Text with a lone surrogate, which JavaScript can have and
// send, is an error when it arrives; invalid bytes that are sent become U+FFFD. A
// Truncate that would split a surrogate pair is an error.
//
// # Concurrency
//
// No type here may be used by two goroutines at a time, nothing starts a goroutine,
// and nothing needs closing. Values from [ApplyImmutable] may be read by any number
// of goroutines while newer ones are made.
//
// # Not here
//
// Framing, sequence numbers, acknowledgement, compression and reconnecting belong to
// the protocol around: see the transport packages. Two writers are not reconciled.
package chord
