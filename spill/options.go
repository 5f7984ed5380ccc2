// What bounds a store: sizes, ages and the room that others need.

package spill

import (
	"log/slog"
	"time"
)

const (
	// DefaultMaxFile bounds one file, in bytes: four times the largest outputs that are
	// searched in practice, and less than a minute of a command that prints without end.
	DefaultMaxFile = 4 << 30
	// DefaultMaxTotal bounds everything in the store, in bytes: four such files.
	DefaultMaxTotal = 16 << 30
	// DefaultKeepFree is what is left free on the file system for the commands themselves,
	// in bytes, or a tenth of the file system where that is less.
	DefaultKeepFree = 1 << 30
	// DefaultMaxAge is how long a file stays after its command has ended: a week, after
	// which nobody remembers what it was about.
	DefaultMaxAge = 7 * 24 * time.Hour
	// DefaultFloor is how long what an agent left behind in a crash stays whatever the
	// quotas say: time enough for a person to come and look.
	DefaultFloor = time.Hour
)

const (
	// maxRecords bounds the manifests and files in a directory.
	maxRecords = 10_000
	// sweepInterval is how often ages are looked at.
	sweepInterval = time.Minute
)

// Options are the bounds of a [Store]. The zero value means the defaults.
type Options struct {
	// MaxFile bounds one file, in bytes; 0 means [DefaultMaxFile].
	MaxFile int64
	// MaxTotal bounds all files together, with [RecordCharge] for each manifest, in bytes;
	// 0 means [DefaultMaxTotal].
	MaxTotal int64
	// KeepFree is what must stay free on the file system, in bytes; 0 means
	// [DefaultKeepFree] or a tenth of the file system, a negative number nothing.
	KeepFree int64
	// MaxAge is how long a file stays after its command has ended; 0 means
	// [DefaultMaxAge].
	MaxAge time.Duration
	// Floor is how long what a crash left behind stays whatever the other bounds say; 0
	// means [DefaultFloor].
	Floor time.Duration
	// Logger gets what an operator should know. Nil discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	set := func(n *int64, otherwise int64) {
		if *n == 0 {
			*n = otherwise
		}
	}
	set(&o.MaxFile, DefaultMaxFile)
	set(&o.MaxTotal, DefaultMaxTotal)
	set((*int64)(&o.MaxAge), int64(DefaultMaxAge))
	set((*int64)(&o.Floor), int64(DefaultFloor))
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
