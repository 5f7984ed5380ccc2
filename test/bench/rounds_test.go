// Tests of the order in which sides run and of what ends them.

package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/execagent/execagent/test/bench/gen"
)

func TestRounds(t *testing.T) {
	w := testWorkshop(t)
	var order []string
	var scratches []string
	record := func(name string, failAt int) side {
		runs := 0
		return side{name: name, mode: pty, run: func(_ context.Context, _ input, scratch string) (sample, error) {
			order = append(order, name)
			scratches = append(scratches, scratch)
			if runs++; runs == failAt {
				return sample{}, errors.New("broke")
			}
			return sample{seconds: float64(runs)}, os.WriteFile(scratch+"/f", nil, 0o600)
		}}
	}
	absent := side{name: "absent", absent: errors.New("not here"), run: func(context.Context, input, string) (sample, error) {
		t.Error("an absent side was run")
		return sample{}, nil
	}}
	k := kindRun{results: []result{{side: record("a", 0)}, {side: absent}, {side: record("b", 2)}, {side: record("c", 0)}}}
	for round := range 3 {
		if err := k.round(t.Context(), w, round); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"a", "b", "c", "c", "b", "a", "a", "c"}; !slices.Equal(order, want) {
		t.Errorf("order %q, want %q: forth, back, and b no more after it failed", order, want)
	}
	if got := k.samples("a"); len(got) != 3 || got[2].seconds != 3 {
		t.Errorf("samples of a: %v, want three", got)
	}
	if got := k.samples("b"); got != nil {
		t.Errorf("samples of b, which failed: %v, want none", got)
	}
	slices.Sort(scratches)
	if len(slices.Compact(scratches)) != len(order) {
		t.Error("two runs shared a folder")
	}
	if left, err := os.ReadDir(w.data); err != nil || len(left) != 0 {
		t.Errorf("%v left behind (%v)", left, err)
	}
}

func TestRoundEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stops := side{name: "stops", run: func(context.Context, input, string) (sample, error) {
		cancel()
		return sample{}, errors.New("killed")
	}}
	never := side{name: "never", run: func(context.Context, input, string) (sample, error) {
		t.Error("a side was run after the end")
		return sample{}, nil
	}}
	k := kindRun{results: []result{{side: stops}, {side: never}}}
	if err := k.round(ctx, testWorkshop(t), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestPeersRunOnFirstKindOnly(t *testing.T) {
	seen := map[string][]gen.Kind{}
	record := func(name string, peer bool) side {
		return side{name: name, peer: peer, run: func(_ context.Context, in input, _ string) (sample, error) {
			seen[name] = append(seen[name], in.kind)
			return sample{}, nil
		}}
	}
	runs, err := measureAll(t.Context(), options{size: 1000, rounds: 1}, testWorkshop(t),
		[]side{record("ours", false), record("theirs", true)})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen["ours"], gen.Kinds()) || !slices.Equal(seen["theirs"], gen.Kinds()[:1]) || len(runs) != len(gen.Kinds()) {
		t.Errorf("ran %v, want ours on all kinds and theirs on the first", seen)
	}
}
