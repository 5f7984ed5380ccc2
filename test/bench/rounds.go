// The rounds: every side once a round, forth and back, so that what the machine does
// meanwhile meets all of them.

package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/execagent/execagent/test/bench/gen"
)

// A kindRun is all samples on one kind of input.
type kindRun struct {
	input   input
	results []result
}

// A result is the samples of one side, one a round, or why there are none.
type result struct {
	side    side
	samples []sample
	failed  error // the first run that did not do its work; ends the side
}

// err returns why the side has no figures.
func (r *result) err() error {
	if r.side.absent != nil {
		return r.side.absent
	}
	return r.failed
}

// measureAll measures the sides on every kind of input, the peers on the first only.
func measureAll(ctx context.Context, opts options, w *workshop, sides []side) ([]kindRun, error) {
	kinds := gen.Kinds()
	if opts.input != "" {
		kinds = []gen.Kind{opts.input}
	}
	var runs []kindRun
	for i, kind := range kinds {
		fmt.Fprintf(w.log, "input %s\n", kind)
		in, err := prepareInput(w.data, kind, opts.size)
		if err != nil {
			return nil, err
		}
		run := kindRun{input: in}
		for _, s := range sides {
			if !s.peer || i == 0 {
				run.results = append(run.results, result{side: s})
			}
		}
		for round := range opts.rounds {
			if err := run.round(ctx, w, round); err != nil {
				return nil, err
			}
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// round runs every side that works once. Its error is that of the whole program.
func (k *kindRun) round(ctx context.Context, w *workshop, round int) error {
	order := make([]*result, len(k.results))
	for i := range k.results {
		order[i] = &k.results[i]
	}
	if round%2 == 1 {
		slices.Reverse(order)
	}
	for _, r := range order {
		if r.err() != nil {
			continue
		}
		s, err := runOnce(ctx, w, r.side, k.input)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.failed = fmt.Errorf("round %d: %w", round+1, err)
			fmt.Fprintf(w.log, "  %s: %v\n", r.side.name, r.failed)
			continue
		}
		r.samples = append(r.samples, s)
		fmt.Fprintf(w.log, "  round %d: %-32s %8.3f s\n", round+1, r.side.name, s.seconds)
	}
	return nil
}

// runOnce runs a side with a folder for its files, which is emptied before the system has
// written much of them to the disk.
func runOnce(ctx context.Context, w *workshop, s side, in input) (sample, error) {
	scratch, err := os.MkdirTemp(w.data, "out-")
	if err != nil {
		return sample{}, err
	}
	defer os.RemoveAll(scratch)
	return s.run(ctx, in, scratch)
}
