// Tests of the report: figures, verdicts, gaps, and the exit status.

package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/execagent/execagent/test/bench/gen"
)

// testReport has two rounds of a fast and a slow side, on lines.
func testReport() report {
	return report{
		args: []string{"--rounds", "2"},
		opts: options{size: fullSize, rounds: 5},
		root: "/home/me/module",
		runs: []kindRun{{
			input: input{kind: gen.Lines, bytes: 100, lines: 1},
			results: []result{
				{side: side{name: limitPTY, mode: pty}, samples: []sample{{2, 1, 2048, notMeasured}, {4, 1, 2048, notMeasured}}},
				{side: side{name: ownPTY, mode: pty, own: true}, samples: []sample{{2.1, 1, 30 << 10, 5000}, {4.2, 1, 30 << 10, 7000}}},
				{side: side{name: scriptPTY, mode: pty, peer: true, absent: errors.New("no such program")}},
			},
		}},
		elsewhere: []verdict{{"threads", true, 50, spread{34, 20, 51}}, {"echo", true, 10, spreadOf(nil)}},
	}
}

func TestMarkdown(t *testing.T) {
	text := testReport().markdown()
	for _, want := range []string{
		"`go run ./test/bench --rounds 2`",
		"| PTY: time over the physical limit | ≤ 1.1 | 1.05 (1.05–1.05) | reached |",
		"| PTY: peak memory of the agent, MiB | ≤ 24 | 30 (30–30) | **missed** |",
		"| PTY: time of script over ours | ≥ 2.3 | – | not measured |",
		"| physical limit, PTY | PTY | 3 (2–4) | 1 (1–1) | 1 (1–1) | 2 (2–2) | – |",
		"| execagent, PTY | PTY | 3.15 (2.1–4.2) | 1.05 (1.05–1.05) | 1 (1–1) | 30 (30–30) | 6 (5–7) |",
		"- script: absent: no such program",
		"| threads | ≤ 50 | 34 (20–51) | reached |",
		"| echo | ≤ 10 | – | not measured |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "\n**") {
		t.Errorf("a full run has caveats:\n%s", text)
	}
}

func TestVerdict(t *testing.T) {
	most, least := target{most: true, bound: 2}, target{bound: 2}
	for _, tt := range []struct {
		target target
		median float64
		want   string
	}{
		{most, 2, "reached"}, {most, 2.01, "**missed**"}, {least, 2, "reached"}, {least, 1.99, "**missed**"},
	} {
		if got := (verdict{most: tt.target.most, bound: tt.target.bound, spread: spread{median: tt.median}}).word(); got != tt.want {
			t.Errorf("verdict of %v with most = %v, bound 2: %q, want %q", tt.median, tt.target.most, got, tt.want)
		}
	}
}

// Every target speaks of sides that exist.
func TestTargetsNameSides(t *testing.T) {
	known := []string{limitPTY, limitPipe, ownPTY, ownPipe, scriptPTY, piPipe, codexPTY, codexPipe}
	for _, target := range targets {
		if !slices.Contains(known, target.of) || target.by != "" && !slices.Contains(known, target.by) {
			t.Errorf("target %q is about %q and %q", target.text, target.of, target.by)
		}
	}
}

func TestCaveats(t *testing.T) {
	r := testReport()
	r.opts = options{size: quickSize, rounds: 2}
	if got := r.caveats(); len(got) != 2 {
		t.Errorf("caveats of a small run with few rounds: %q, want two", got)
	}
}

func TestFailure(t *testing.T) {
	r := testReport()
	if err := r.failure(); err != nil {
		t.Errorf("with an absent peer: %v, want no failure", err)
	}
	r.runs[0].results[2].side.own = true
	if err := r.failure(); err == nil {
		t.Error("with a side of ours absent: no failure")
	}
	r = testReport()
	r.runs[0].results[0].failed = errors.New("/home/me/module/test/bench/data/x differs")
	if err := r.failure(); err == nil {
		t.Error("with a failed side: no failure")
	}
	text := r.markdown()
	if !strings.Contains(text, "failed: test/bench/data/x differs") {
		t.Errorf("the report tells the machine's paths or not the failure:\n%s", text)
	}
}
