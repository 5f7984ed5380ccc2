// The sides: programs that do the work, and what one run of one of them cost.

package main

import (
	"context"
	"errors"
)

// A mode is what the command writes to.
type mode string

const (
	pty  mode = "PTY"
	pipe mode = "pipe"
)

// A sample is what one run of a side cost.
type sample struct {
	seconds   float64
	cpu       float64 // seconds; the command's own among them
	peakKiB   int64   // peak resident set of the process that keeps the output
	wireBytes int64   // bytes that went to the watcher; notMeasured where there is none
}

// notMeasured stands for a figure that a side does not have.
const notMeasured = -1

// The names of the sides that targets speak of.
const (
	limitPTY  = "physical limit, PTY"
	limitPipe = "physical limit, pipe"
	ownPTY    = "execagent, PTY"
	ownPipe   = "execagent, pipe"
	scriptPTY = "script"
	piPipe    = "JavaScript harness environment"
	codexPTY  = "codex exec-server, PTY"
	codexPipe = "codex exec-server, pipe"
)

// A side is one way of doing the work.
type side struct {
	name   string
	mode   mode
	own    bool  // ours: its absence is a failure
	peer   bool  // somebody else's: measured on the first kind of input only
	absent error // why it cannot run here
	// run does the work on in, keeps files in the empty folder scratch, and checks what it kept.
	run func(ctx context.Context, in input, scratch string) (sample, error)
}

// errNotAsked is why a side is absent that has to be asked for.
var errNotAsked = errors.New("not asked for")

// allSides returns the sides in the order in which they are reported. What they need is built
// or installed here.
func allSides(ctx context.Context, w *workshop, codex bool) []side {
	var sides []side
	own := ownSides(w)
	for i, limit := range limitSides(w) {
		sides = append(sides, limit, own[i]) // one after the other, for a ratio of the same minute
	}
	sides = append(sides, scriptSide(ctx))
	sides = append(sides, sshSides(ctx, w)...)
	sides = append(sides, tmuxSide(ctx, w))
	sides = append(sides, piSide(ctx, w))
	return append(sides, codexSides(ctx, w, codex)...)
}

// limitOf returns the name of the side that the others of a mode are compared with.
func limitOf(m mode) string {
	if m == pty {
		return limitPTY
	}
	return limitPipe
}
