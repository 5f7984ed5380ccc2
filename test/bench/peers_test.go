// Tests of the peers that are programs of the system.

package main

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/execagent/execagent/test/bench/gen"
)

// testPeer runs a side on an input, and on another than it is told, which it has to notice.
func testPeer(t *testing.T, s side, other func(*input)) sample {
	t.Helper()
	if s.absent != nil {
		t.Skip(s.absent)
	}
	in := testInput(t, gen.Lines)
	got, err := s.run(t.Context(), in, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got.seconds <= 0 || got.peakKiB <= 0 {
		t.Errorf("%s: sample %+v, want a time and a size", s.name, got)
	}
	if other(&in); !failsOn(t, s, in) {
		t.Errorf("%s: no error for another input", s.name)
	}
	return got
}

func failsOn(t *testing.T, s side, in input) bool {
	_, err := s.run(t.Context(), in, t.TempDir())
	return err != nil
}

func TestSSHSides(t *testing.T) {
	for _, s := range sshSides(t.Context(), testWorkshop(t)) {
		got := testPeer(t, s, func(in *input) { in.bytes *= 2 })
		if got.wireBytes < 1<<20 {
			t.Errorf("%s: %d bytes over the connection", s.name, got.wireBytes)
		}
	}
}

func TestTmuxSide(t *testing.T) {
	testPeer(t, tmuxSide(t.Context(), testWorkshop(t)), func(in *input) { in.bytes /= 2 })
}

func TestTransferred(t *testing.T) {
	got, err := transferred([]byte("debug1: x\nTransferred: sent 3212, received 4711 bytes, in 0.3 seconds\nBytes per second: 1\n"))
	if got != 4711 || err != nil {
		t.Errorf("transferred = %d, %v", got, err)
	}
	if _, err := transferred([]byte("Permission denied")); err == nil || !strings.Contains(err.Error(), "Permission denied") {
		t.Errorf("the error is %v, want what ssh said", err)
	}
}

func TestFindProgram(t *testing.T) {
	if path, err := findProgram("sh"); err != nil || path == "" {
		t.Errorf("sh is at %q, %v", path, err)
	}
	if _, err := findProgram("no-such-program"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a program that nobody has: %v", err)
	}
}
