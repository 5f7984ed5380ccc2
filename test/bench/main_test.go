// Helpers of all tests, and the other programs that the test binary can be.

package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/execagent/execagent/test/bench/gen"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// Under the race detector every child would sleep a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	if child, ok := limitChildren[argument(1)]; ok {
		exit(child(argument(2), argument(3)))
	}
	if fake, ok := fakes[argument(1)]; ok {
		exit(fake(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// testWorkshop is a workshop in a temporary module.
func testWorkshop(t *testing.T) *workshop {
	t.Helper()
	w, err := newWorkshop(places{root: t.TempDir(), data: t.TempDir()}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	return w
}

// testInput is a small input.
func testInput(t *testing.T, kind gen.Kind) input {
	t.Helper()
	in, err := prepareInput(t.TempDir(), kind, 1<<20+17)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestParseOptions(t *testing.T) {
	const results = "R"
	tests := []struct {
		args []string
		want options
		fail bool
	}{
		{nil, options{size: fullSize, rounds: 5, out: results}, false},
		{[]string{"--quick"}, options{size: quickSize, rounds: 5, quick: true}, false},
		{[]string{"--quick", "--out", "x"}, options{size: quickSize, rounds: 5, quick: true, out: "x"}, false},
		{[]string{"--quick", "--size", "1GiB"}, options{size: fullSize, rounds: 5, quick: true}, false},
		{[]string{"--rounds", "9", "--codex"}, options{size: fullSize, rounds: 9, codex: true, out: results}, false},
		{[]string{"--rounds", "0"}, options{}, true},
		{[]string{"--size", "many"}, options{}, true},
		{[]string{"lines"}, options{}, true},
	}
	for _, tt := range tests {
		got, err := parseOptions(tt.args, results)
		if tt.fail != (err != nil) || err == nil && got != tt.want {
			t.Errorf("parseOptions(%q) = %+v, %v, want %+v, failure %v", tt.args, got, err, tt.want, tt.fail)
		}
	}
}

func TestFindPlaces(t *testing.T) {
	p, err := findPlaces()
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(p.results) != here || filepath.Dir(p.data) != here {
		t.Errorf("results in %q, data in %q, want both in %q", p.results, p.data, here)
	}
}
