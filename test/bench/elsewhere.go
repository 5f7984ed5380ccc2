// The targets that other programs of the module measure, at the end of a full run.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// A goal is a bound for a figure that a test or benchmark of the module prints.
type goal struct {
	text  string
	most  bool // the bound is the most allowed, not the least
	bound float64
	env   string   // one variable, or ""
	args  []string // of go test, in the folder
	dir   string
	// prints finds the figures, as often as they are printed.
	prints *regexp.Regexp
}

var goals = []goal{
	{
		text: "flush of 100 B into a 50 KiB window: time of JavaScript Chord over ours", bound: 10,
		dir: "test/interop", args: []string{"-run", "Compare", "-v", "-interop.compare", "5"},
		prints: regexp.MustCompile(`\| 100 \| flush, Document \|.*\| ([\d.]+) \(`),
	},
	{
		text: "the same: allocations", most: true, bound: 0,
		dir: "chord", args: []string{"-run", "^$", "-bench", "DocumentFlush/100B", "-benchmem"},
		prints: regexp.MustCompile(`(\d+) allocs/op`),
	},
	{
		text: "`true`: time over PTY, fork, exec and wait", most: true, bound: 1.3,
		dir: "client/embed", args: []string{"-run", "^$", "-bench", "True", "-benchtime", "15x", "-count", "5"},
		prints: regexp.MustCompile(`([\d.]+) ratio`),
	},
	{
		text: "1000 idle executions: KiB each", most: true, bound: 64,
		dir: "test/faults", args: []string{"-run", "ThousandIdle", "-v"}, env: "EXECAGENT_FAULTS=full",
		prints: regexp.MustCompile(`([\d.]+) KiB each`),
	},
	{
		text: "1000 idle executions: threads", most: true, bound: 50,
		dir: "test/faults", args: []string{"-run", "ThousandIdle", "-v"}, env: "EXECAGENT_FAULTS=full",
		prints: regexp.MustCompile(`(\d+) threads`),
	},
	{
		text: "a keystroke's echo beside 8 floods, p99, ms", most: true, bound: 10,
		dir: "test/faults", args: []string{"-run", "^$", "-bench", "Echo.*/agent", "-benchtime", "1000x", "-count", "5"},
		prints: regexp.MustCompile(`([\d.]+) p99-ms`),
	},
}

// measured runs the goal's test. Its error is why there is no figure.
func (g goal) measured(ctx context.Context, w *workshop) (spread, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1"}, g.args...)...)
	cmd.Dir = filepath.Join(w.root, g.dir)
	if g.env != "" {
		cmd.Env = append(os.Environ(), g.env)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return spreadOf(nil), fmt.Errorf("go test in %s: %w: %s", g.dir, err, lastLine(out))
	}
	return g.figures(out)
}

// figures reads what the test printed.
func (g goal) figures(out []byte) (spread, error) {
	var list []float64
	for _, m := range g.prints.FindAllSubmatch(out, -1) {
		v, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return spreadOf(nil), err
		}
		list = append(list, v)
	}
	if list == nil {
		return spreadOf(nil), fmt.Errorf("go test in %s did not print the figure", g.dir)
	}
	return spreadOf(list), nil
}

// measureElsewhere measures what is not measured on an input. What cannot be measured is logged
// and has no figure.
func measureElsewhere(ctx context.Context, w *workshop) []verdict {
	list := measureProgram(ctx, w)
	for _, g := range goals {
		s, err := g.measured(ctx, w)
		if err != nil {
			fmt.Fprintf(w.log, "%s: %v\n", g.text, err)
		}
		list = append(list, verdict{g.text, g.most, g.bound, s})
	}
	return list
}

// measureProgram is what the agent is before it does anything.
func measureProgram(ctx context.Context, w *workshop) []verdict {
	var size, idle, ready []float64
	binary, err := w.build("execagent")
	for range minRounds {
		var s start
		if err == nil {
			s, err = startOnce(ctx, w, binary)
		}
		if err != nil {
			fmt.Fprintf(w.log, "the agent's start: %v\n", err)
			size, idle, ready = nil, nil, nil
			break
		}
		size, idle, ready = append(size, s.binaryMiB), append(idle, s.idleMiB), append(ready, s.readyMS)
	}
	return []verdict{
		{"the agent's binary, stripped and static, MiB", true, 8, spreadOf(size)},
		{"its memory when idle, MiB", true, 12, spreadOf(idle)},
		{"its start until it accepts, ms", true, 10, spreadOf(ready)},
	}
}

// A start is what it costs that the agent is there.
type start struct{ binaryMiB, idleMiB, readyMS float64 }

// settling is how long an agent that has started gets before its memory is looked at.
const settling = 500 * time.Millisecond

func startOnce(ctx context.Context, w *workshop, binary string) (s start, err error) {
	info, err := os.Stat(binary)
	if err != nil {
		return s, err
	}
	dir, err := os.MkdirTemp(w.temp, "")
	if err != nil {
		return s, err
	}
	socket := filepath.Join(dir, "sock")
	ready := make(chan time.Duration, 1)
	begun := time.Now()
	agent, err := startServer(
		exec.CommandContext(ctx, binary, "serve", "--listen", "unix:"+socket, "--spill-dir", filepath.Join(dir, "spill")),
		func() bool {
			for time.Since(begun) < settling { // no pause between two looks
				if accepts("unix", socket) {
					ready <- time.Since(begun)
					return true
				}
			}
			return false
		})
	if err != nil {
		return s, err
	}
	select {
	case took := <-ready:
		s.readyMS = float64(took.Microseconds()) / 1000
	default:
		return s, errors.Join(fmt.Errorf("the agent did not accept within %v", settling), agent.stop())
	}
	time.Sleep(settling)
	use, err := agent.finish()
	s.binaryMiB, s.idleMiB = float64(info.Size())/(1<<20), float64(use.peakKiB)/1024
	return s, err
}
