// Limits: how much a decoder believes.

package chord

import "cmp"

// The defaults of [Limits]. An [Encoder] stays within the last three by itself, and
// the flushes of [Document] and [Tracker] within the number of operations. A
// document that is longer than a batch may be cannot be sent in one piece.
const (
	DefaultMaxBytes     = 8 << 20 // bytes of JSON in a batch
	DefaultMaxOps       = 1 << 16 // operations in a batch, path definitions included
	DefaultMaxPaths     = 1 << 16 // path ids defined since the last base batch
	DefaultMaxPathDepth = 256     // segments of a path
	DefaultMaxNesting   = 1000    // containers around a value, itself included
)

// Limits bounds what a [Decoder] accepts from its peer. A zero field stands for
// its default. Where a peer may send more than the defaults there is the memory of
// this process to think of. A path longer than the default is an error whatever the limit.
//
// Decoding allocates in proportion to the batch whatever the peer sends. The
// proportion is that of Go's map[string]any: the worst batch, of objects with
// one short key each, allocates about 60 bytes for each of its bytes.
type Limits struct {
	MaxBytes     int // bytes of JSON in a batch
	MaxOps       int // operations in a batch, path definitions included
	MaxPaths     int // path ids defined since the last base batch
	MaxPathDepth int // segments of a path
	MaxNesting   int // containers around a value, itself included
}

func (l Limits) withDefaults() Limits {
	return Limits{
		MaxBytes:     cmp.Or(l.MaxBytes, DefaultMaxBytes),
		MaxOps:       cmp.Or(l.MaxOps, DefaultMaxOps),
		MaxPaths:     cmp.Or(l.MaxPaths, DefaultMaxPaths),
		MaxPathDepth: cmp.Or(l.MaxPathDepth, DefaultMaxPathDepth),
		MaxNesting:   cmp.Or(l.MaxNesting, DefaultMaxNesting),
	}
}
