//go:build linux

package execagent

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// quietExecution is an execution without a process, for what is done with its output.
func quietExecution(l limits.Limits) *execution {
	e := newExecution(nil, protocol.Spec{Limits: l, NoSpill: true}, nil)
	e.out = newOutput(e)
	return e
}

// watched is a watcher of it that folds with chord what the agent would send.
type watched struct {
	document document
	batch    batch
	decoder  chord.Decoder
	replica  any
}

// follow takes the next batch and checks the replica against the view.
func (w *watched) follow(t *rapid.T, e *execution) {
	if _, err := w.document.next(&w.batch); err != nil {
		t.Fatalf("encoding: %v", err)
	}
	if len(w.batch.wire) == 0 {
		return
	}
	ops, err := w.decoder.Decode(nil, w.batch.wire)
	if err != nil {
		t.Fatalf("decoding %s: %v", w.batch.wire, err)
	}
	if w.replica, err = chord.Apply(w.replica, ops); err != nil {
		t.Fatalf("applying %s: %v", w.batch.wire, err)
	}
	// What a watcher that comes now is told.
	fresh := watched{document: document{e: e}}
	if _, err := fresh.document.next(&fresh.batch); err != nil {
		t.Fatal(err)
	}
	var base [][]json.RawMessage
	if err := json.Unmarshal(fresh.batch.wire, &base); err != nil || len(base) != 1 {
		t.Fatalf("base batch %s: %v", fresh.batch.wire, err)
	}
	var want any
	if err := json.Unmarshal(base[0][1], &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, w.replica); diff != "" {
		t.Fatalf("after %s (-base batch +replica):\n%s", w.batch.wire, diff)
	}
}

// TestDocument: whatever happens to an execution, and whenever its watchers look, each holds
// the document that a new one would be given.
func TestDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := limits.Limits{
			MaxBytes: rapid.IntRange(1, 300).Draw(t, "maxBytes"),
			MaxLines: rapid.IntRange(1, 20).Draw(t, "maxLines"),
			Retain:   rapid.SampledFrom([]limits.Retain{limits.RetainHead, limits.RetainTail}).Draw(t, "retain"),
		}.Resolve()
		if err != nil {
			t.Fatal(err)
		}
		e := quietExecution(l)
		watchers := []*watched{{document: document{e: e}}, {document: document{e: e}}}
		look := func() {
			for _, w := range watchers {
				if rapid.Bool().Draw(t, "look") {
					w.follow(t, e)
				}
			}
		}
		for range rapid.IntRange(0, 20).Draw(t, "writes") {
			p := rapid.SampledFrom([]string{"a line\n", "no end", "\r50%", "é😀\n", "\"quoted\\\"\t", strings.Repeat("long ", 100), "\xff\xf0\x9f", "\n\n\n", "\x1b[2A", "\x1b[A\x1b[2Kagain\n", "\x1b[H\x1b[J", "\x1b[?1049h", "\x1b[?1049l", strings.Repeat("\n", 60)}).Draw(t, "write")
			e.out.write([]byte(p), false)
			look()
		}
		if rapid.Bool().Draw(t, "spill trouble") {
			e.out.spillCreated("/spill/file")
			look()
			e.out.spillFailed(errors.New("disk full"))
			look()
		}
		e.exited(status{code: rapid.IntRange(0, 2).Draw(t, "code"), signal: 0})
		look()
		e.out.seal(false)
		e.state = protocol.Settled
		for _, w := range watchers {
			w.follow(t, e)
			if final, _ := w.document.next(&w.batch); !final || len(w.batch.wire) > 0 {
				t.Fatalf("after the end: final %v, batch %s", final, w.batch.wire)
			}
		}
	})
}

// BenchmarkFlush is one publication of a full 50 KiB rolling window: delta, ops, JSON.
func BenchmarkFlush(b *testing.B) {
	for _, in := range []struct {
		name string
		size int
	}{{"100B", 100}, {"4KiB", 4096}, {"25KB", 25000}} {
		b.Run(in.name, func(b *testing.B) {
			l, _ := limits.Limits{}.Resolve()
			e := quietExecution(l)
			line := []byte(strings.Repeat("some build output of a usual length, and then ", 2) + "a newline\n")
			for range 1000 {
				e.out.write(line, false)
			}
			text := []byte(strings.Repeat(string(line), in.size/len(line)+1))[:in.size]
			w := watched{document: document{e: e}}
			if _, err := w.document.next(&w.batch); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.SetBytes(int64(in.size))
			for b.Loop() {
				e.out.write(text, false)
				if _, err := w.document.next(&w.batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(w.batch.wire)), "wire-B/op")
		})
	}
}
