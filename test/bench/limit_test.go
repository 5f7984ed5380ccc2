// Tests that the sides which need nothing do the work and notice when it is not done.

package main

import (
	"testing"

	"github.com/execagent/execagent/test/bench/gen"
)

func TestLimitSides(t *testing.T) {
	w := testWorkshop(t)
	for _, s := range limitSides(w) {
		for _, kind := range gen.Kinds() {
			in := testInput(t, kind)
			got, err := s.run(t.Context(), in, t.TempDir())
			if err != nil {
				t.Errorf("%s, %s: %v", s.name, kind, err)
			}
			if got.seconds <= 0 || got.cpu <= 0 || got.wireBytes != notMeasured {
				t.Errorf("%s, %s: sample %+v, want times and no wire", s.name, kind, got)
			}
			for name, wrong := range wrongInputs(in) {
				if _, err := s.run(t.Context(), wrong, t.TempDir()); err == nil {
					t.Errorf("%s, %s: no error for an input with %s", s.name, kind, name)
				}
			}
		}
	}
}

// wrongInputs are claims about an input that a side must contradict.
func wrongInputs(in input) map[string]input {
	larger, absent := in, in
	larger.bytes++
	absent.path += ".none"
	return map[string]input{"another size": larger, "no file": absent}
}

func TestLimitCountsLines(t *testing.T) {
	s := limitSides(testWorkshop(t))[0]
	in := testInput(t, gen.Lines)
	in.lines++
	if _, err := s.run(t.Context(), in, t.TempDir()); s.name != limitPTY || err == nil {
		t.Errorf("%s: no error for another number of lines", s.name)
	}
}

func TestScriptSide(t *testing.T) {
	s := scriptSide(t.Context())
	if s.absent != nil {
		t.Skipf("script: %v (it comes with util-linux)", s.absent)
	}
	in := testInput(t, gen.Lines)
	got, err := s.run(t.Context(), in, t.TempDir())
	if err != nil || got.seconds <= 0 {
		t.Errorf("sample %+v, %v, want a time", got, err)
	}
	in.bytes *= 2
	if _, err := s.run(t.Context(), in, t.TempDir()); err == nil {
		t.Error("no error for a typescript that is too short")
	}
}
