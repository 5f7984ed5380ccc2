// The targets: what the figures have to reach, on full-size lines.

package main

import (
	"fmt"
	"math"
)

// A target is a bound for a figure of one side, or for its ratio to that of another side.
type target struct {
	text   string
	figure figure
	of, by string // sides; by is "" for the figure itself
	most   bool   // the bound is the most allowed, not the least
	bound  float64
}

var targets = []target{
	{"PTY: time over the physical limit", seconds, ownPTY, limitPTY, true, 1.10},
	{"PTY: time of script over ours", seconds, scriptPTY, ownPTY, false, 2.3},
	{"PTY: time of codex exec-server over ours", seconds, codexPTY, ownPTY, false, 3},
	{"PTY: wire bytes over those of codex exec-server", wireKB, ownPTY, codexPTY, true, 1.0 / 10_000},
	{"PTY: peak memory of the agent, MiB", peakMiB, ownPTY, "", true, 24},
	{"pipe: time over the physical limit", seconds, ownPipe, limitPipe, true, 1.15},
	{"pipe: time of the JavaScript environment over ours", seconds, piPipe, ownPipe, false, 5},
	{"pipe: memory of the JavaScript environment over the agent's", peakMiB, piPipe, ownPipe, false, 5},
	{"pipe: bytes on the wire, kB", wireKB, ownPipe, "", true, 100},
	{"pipe: peak memory of the agent, MiB", peakMiB, ownPipe, "", true, 24},
}

// measured returns the spread of a target in a run; NaN if a side is missing.
func (t target) measured(k kindRun) spread {
	of := k.samples(t.of)
	if t.by == "" {
		return spreadOf(values(of, t.figure))
	}
	return spreadOf(ratios(of, k.samples(t.by), t.figure))
}

// A verdict is a row of the targets' table.
type verdict struct {
	text  string
	most  bool // the bound is the most allowed, not the least
	bound float64
	spread
}

// word says whether the median reaches the bound.
func (v verdict) word() string {
	switch {
	case math.IsNaN(v.median):
		return "not measured"
	case v.most && v.median <= v.bound, !v.most && v.median >= v.bound:
		return "reached"
	}
	return "**missed**"
}

func (v verdict) row() string {
	sign := "≥"
	if v.most {
		sign = "≤"
	}
	return fmt.Sprintf("| %s | %s %s | %s | %s |\n", v.text, sign, number(v.bound), cell(v.spread), v.word())
}

// samples returns those of a side, none if it is absent or failed.
func (k kindRun) samples(name string) []sample {
	for _, r := range k.results {
		if r.side.name == name && r.err() == nil {
			return r.samples
		}
	}
	return nil
}
