// Benchmarks: a window of 50 KiB that slides, with three sizes of step.
//
// The comparison with the JavaScript package, on the same texts and in one run,
// is in test/interop.

package chord_test

import (
	"fmt"
	"testing"

	"github.com/execagent/execagent/chord"
)

const benchWindow = 51200

var benchSteps = []int{100, 4096, 25000}

func benchSizes(b *testing.B, f func(b *testing.B, window string, steps []string)) {
	text := chord.BuildOutput(benchWindow + 64*25000)
	for _, step := range benchSteps {
		steps := make([]string, 64)
		for i := range steps {
			steps[i] = text[benchWindow+i*step:][:step]
		}
		b.Run(fmt.Sprintf("%dB", step), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(step))
			f(b, text[:benchWindow], steps)
		})
	}
}

var (
	benchPath  = chord.P("content", 0, "text")
	benchTotal = chord.P("truncation", "totalBytes")
)

func benchDocument(window string) map[string]any {
	return map[string]any{
		"content":    []any{map[string]any{"type": "text", "text": window}},
		"truncation": map[string]any{"totalBytes": 0.0},
	}
}

// BenchmarkDocumentFlush changes the document, flushes and encodes.
func BenchmarkDocumentFlush(b *testing.B) {
	benchSizes(b, func(b *testing.B, window string, steps []string) {
		doc, err := chord.NewDocument(benchDocument(window))
		if err != nil {
			b.Fatal(err)
		}
		ops := doc.Flush(nil)
		for i := 0; b.Loop(); i++ {
			step := steps[i%len(steps)]
			if err := doc.Truncate(benchPath, len(step)); err != nil {
				b.Fatal(err)
			}
			if err := doc.Append(benchPath, step); err != nil {
				b.Fatal(err)
			}
			ops = doc.Flush(ops[:0])
		}
		if len(ops) != 2 {
			b.Fatalf("got %d operations, want 2", len(ops))
		}
	})
}

// BenchmarkBatch writes the operations of a step without a document.
func BenchmarkBatch(b *testing.B) {
	benchSizes(b, func(b *testing.B, window string, steps []string) {
		var enc chord.Encoder
		var wire []byte
		texts := make([][]byte, len(steps))
		for i := range steps {
			texts[i] = []byte(steps[i])
		}
		for i := 0; b.Loop(); i++ {
			text := texts[i%len(texts)]
			batch := enc.Begin(wire[:0])
			batch.Truncate(benchPath, len(text))
			batch.AppendText(benchPath, text)
			batch.SetInt(benchTotal, int64(i))
			var err error
			if wire, err = batch.End(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	benchSizes(b, func(b *testing.B, window string, steps []string) {
		var enc chord.Encoder
		var wire []byte
		ops := []chord.Op{{Verb: chord.Truncate, Path: benchPath}, {Verb: chord.Append, Path: benchPath}}
		for i := 0; b.Loop(); i++ {
			step := steps[i%len(steps)]
			ops[0].Count, ops[1].Text = len(step), step
			var err error
			if wire, err = enc.Encode(wire[:0], ops); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFold folds batches into a Replica.
func BenchmarkFold(b *testing.B) {
	benchSizes(b, func(b *testing.B, window string, steps []string) {
		var enc chord.Encoder
		var dec chord.Decoder
		var replica chord.Replica
		if err := replica.Apply([]chord.Op{{Verb: chord.Replace, Value: benchDocument(window)}}); err != nil {
			b.Fatal(err)
		}
		wires := make([][]byte, len(steps))
		for i, step := range steps {
			var err error
			if wires[i], err = enc.Encode(nil, []chord.Op{
				{Verb: chord.Truncate, Path: benchPath, Count: len(step)},
				{Verb: chord.Append, Path: benchPath, Text: step},
			}); err != nil {
				b.Fatal(err)
			}
			if i < 2 {
				if _, err := dec.Decode(nil, wires[i]); err != nil {
					b.Fatal(err)
				}
			}
		}
		for i := 0; b.Loop(); i++ {
			if err := replica.Fold(&dec, wires[2+i%(len(wires)-2)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTrackerFlush compares complete values.
func BenchmarkTrackerFlush(b *testing.B) {
	benchSizes(b, func(b *testing.B, window string, steps []string) {
		var tracker chord.Tracker
		state := benchDocument(window)
		content := state["content"].([]any)[0].(map[string]any)
		for i := 0; b.Loop(); i++ {
			step := steps[i%len(steps)]
			b.StopTimer()
			window = window[len(step):] + step
			content["text"] = window
			b.StartTimer()
			if _, err := tracker.Flush(state); err != nil {
				b.Fatal(err)
			}
		}
	})
}
