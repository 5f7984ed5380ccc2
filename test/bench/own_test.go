// Tests of our side with fakes: the figures come through, work not done is noticed.

package main

import (
	"testing"

	"github.com/execagent/execagent/test/bench/gen"
)

func TestOwnSide(t *testing.T) {
	run := fakePrograms(t).side(testWorkshop(t).temp, "--pipe")
	for _, kind := range gen.Kinds() {
		got, err := run(t.Context(), testInput(t, kind), t.TempDir())
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if got.seconds != 0.001 || got.wireBytes != 4711 || got.cpu <= 0 || got.peakKiB < 1000 {
			t.Errorf("%s: sample %+v, want 0.001 s, 4711 bytes, and the costs of a process", kind, got)
		}
	}
}

func TestOwnSideNoticesFaults(t *testing.T) {
	run := fakePrograms(t).side(testWorkshop(t).temp)
	in := testInput(t, gen.Lines)
	for _, fault := range []string{
		"exit code", "time", "no time", "no wire", "total bytes", "total lines", "no result", "no spill", "short spill", "crash",
	} {
		t.Setenv(faultVariable, fault)
		if got, err := run(t.Context(), in, t.TempDir()); err == nil {
			t.Errorf("fault %q: sample %+v and no error", fault, got)
		}
	}
}

func TestOwnSidesWithoutSource(t *testing.T) {
	for _, s := range ownSides(testWorkshop(t)) { // its module is empty
		if s.absent == nil || !s.own {
			t.Errorf("%s: absent = %v, own = %v, want our side with a reason", s.name, s.absent, s.own)
		}
	}
}
