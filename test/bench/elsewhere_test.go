// Tests of the targets that are measured by other programs.

package main

import "testing"

// TestGoals: each goal finds its figures in what its test prints.
func TestGoals(t *testing.T) {
	prints := []struct {
		out  string
		want spread
	}{ // in the order of the goals
		{"| 51200 | 100 | flush, Document | 17.20 | 0.65 | 26.3 (20.1–34.2) |\n| 51200 | 100 | flush, Tracker | 17.20 | 14 | 1.2 (1.0–1.3) |\n| 51200 | 4096 | flush, Document | 1 | 1 | 23.7 (19–32) |\n", spread{26.3, 26.3, 26.3}},
		{"BenchmarkDocumentFlush/100B-2 \t 3216438\t 383.0 ns/op\t 261.08 MB/s\t 151 B/op\t 0 allocs/op\n", spread{0, 0, 0}},
		{"BenchmarkTrue-2 15 0 ns/op 1500 agent-µs 1200 limit-µs 1.250 ratio\nBenchmarkTrue-2 15 0 ns/op 1500 agent-µs 1200 limit-µs 1.270 ratio\nBenchmarkTrue-2 15 0 ns/op 1500 agent-µs 1200 limit-µs 1.200 ratio\n", spread{1.25, 1.2, 1.27}},
		{"    load_test.go:49: 1000 executions, 100 clients: 52.1 KiB each, 60.2 MiB resident, 34 threads\n", spread{52.1, 52.1, 52.1}},
		{"    load_test.go:49: 1000 executions, 100 clients: 52.1 KiB each, 60.2 MiB resident, 34 threads\n", spread{34, 34, 34}},
		{"BenchmarkEchoBesideFloods/agent-2 1000 0.2236 p50-ms 0.5989 p99-ms\n", spread{0.5989, 0.5989, 0.5989}},
	}
	if len(prints) != len(goals) {
		t.Fatalf("%d goals, want %d", len(goals), len(prints))
	}
	for i, g := range goals {
		got, err := g.figures([]byte("goos: linux\n" + prints[i].out + "PASS\n"))
		if err != nil || got != prints[i].want {
			t.Errorf("%s: %+v, %v, want %+v", g.text, got, err, prints[i].want)
		}
		if _, err := g.figures([]byte("PASS\n")); err == nil {
			t.Errorf("%s: no error where nothing was printed", g.text)
		}
	}
}
