// The speed of both, on the same texts and in turns.

package interop

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/chord"
)

var compare = flag.Int("interop.compare", 0, "rounds of the speed comparison, which takes a few seconds each")

// figures are those of one case, per flush: times in microseconds.
type figures struct {
	WindowUnits, ChunkUnits, Rounds       int
	FlushMicros, EncodeMicros, FoldMicros float64
	WireBytesPerFlush                     float64

	batchMicros, trackerMicros float64 // ours only
}

// TestCompare times chord and the package on the same texts, in turns, and prints
// the medians and their ratios. It does not judge: that is for a quiet machine.
func TestCompare(t *testing.T) {
	if *compare == 0 {
		t.Skip("a measurement: run it with -v -interop.compare=ROUNDS")
	}
	needPackage(t)
	var ours, theirs [][]figures
	for range *compare {
		js := javaScriptFigures(t)
		var own []figures
		for _, c := range js {
			own = append(own, goFigures(t, c.WindowUnits, c.ChunkUnits, c.Rounds))
		}
		ours, theirs = append(ours, own), append(theirs, js)
	}
	t.Logf("\n%s", comparison(ours, theirs))
}

func javaScriptFigures(t *testing.T) (cases []figures) {
	t.Helper()
	out, err := exec.Command("node", "../bench/peers/chord-bench.mjs").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out) {
		var f figures
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, f)
	}
	return cases
}

var textPath = chord.P("content", 0, "text")

// goFigures does what chord-bench.mjs does: a document with a window of text, which
// loses and gains a chunk at each flush.
func goFigures(t *testing.T, window, chunk, rounds int) figures {
	t.Helper()
	sequence := 0
	next := func() string {
		var b strings.Builder
		for b.Len() < chunk {
			fmt.Fprintf(&b, "line %d some build output here\n", sequence)
			sequence++
		}
		return b.String()[:chunk]
	}
	text := ""
	for len(text) < window {
		text += next()
	}
	text = text[len(text)-window:]
	chunks := make([]string, rounds)
	for i := range chunks {
		chunks[i] = next()
	}
	f := figures{WindowUnits: window, ChunkUnits: chunk, Rounds: rounds}
	document := func() map[string]any {
		return map[string]any{
			"content": []any{map[string]any{"type": "text", "text": text}},
			"details": map[string]any{}, "terminate": false, "truncation": map[string]any{"totalBytes": 0},
		}
	}
	f.explicit(t, document(), chunks)
	f.batch(t, document(), chunks)
	f.tracker(t, document(), text, chunks)
	return f
}

// touch reads the text, as whoever just got it from a command has: it is in the processor's
// cache then.
func touch(text string) {
	for i := 0; i < len(text); i += 64 {
		seen ^= text[i]
	}
}

var seen byte

// must is called in what is timed, where Helper would cost more than a flush.
func must(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// explicit times the Document, the Encoder, and the Decoder with a Replica.
func (f *figures) explicit(t *testing.T, start map[string]any, chunks []string) {
	d, err := chord.NewDocument(start)
	must(t, err)
	var encoder chord.Encoder
	var decoder chord.Decoder
	var replica chord.Replica
	ops := d.Flush(nil)
	wire, err := encoder.Encode(nil, ops)
	must(t, err)
	must(t, replica.Fold(&decoder, wire))
	var flush, encode, fold time.Duration
	bytes := 0
	for _, chunk := range chunks {
		touch(chunk)
		t0 := time.Now()
		must(t, d.Truncate(textPath, len(chunk)))
		must(t, d.Append(textPath, chunk))
		ops = d.Flush(ops[:0])
		t1 := time.Now()
		wire, err = encoder.Encode(wire[:0], ops)
		must(t, err)
		t2 := time.Now()
		must(t, replica.Fold(&decoder, wire))
		t3 := time.Now()
		flush += t1.Sub(t0)
		encode += t2.Sub(t1)
		fold += t3.Sub(t2)
		bytes += len(wire)
	}
	got, _ := replica.Value()
	if diff(d.Value(), got) != "" {
		t.Fatal("replica diverged")
	}
	f.FlushMicros, f.EncodeMicros, f.FoldMicros = f.per(flush), f.per(encode), f.per(fold)
	f.WireBytesPerFlush = float64(bytes) / float64(f.Rounds)
}

// batch times the batch writer, which makes JSON of changes without a document.
func (f *figures) batch(t *testing.T, start map[string]any, chunks []string) {
	var encoder chord.Encoder
	wire, err := encoder.Encode(nil, []chord.Op{{Verb: chord.Replace, Value: start}})
	must(t, err)
	texts := make([][]byte, len(chunks))
	for i, chunk := range chunks {
		texts[i] = []byte(chunk)
	}
	t0 := time.Now()
	for _, text := range texts {
		b := encoder.Begin(wire[:0])
		b.Truncate(textPath, chord.Units(text))
		b.AppendText(textPath, text)
		wire, err = b.End()
		must(t, err)
	}
	f.batchMicros = f.per(time.Since(t0))
}

// tracker times the comparison of complete values.
func (f *figures) tracker(t *testing.T, state map[string]any, text string, chunks []string) {
	var tracker chord.Tracker
	_, err := tracker.Flush(state)
	must(t, err)
	content := state["content"].([]any)[0].(map[string]any)
	t0 := time.Now()
	for _, chunk := range chunks {
		text = text[len(chunk):] + chunk
		content["text"] = text
		ops, err := tracker.Flush(state)
		must(t, err)
		if len(ops) != 2 {
			t.Fatalf("%d operations", len(ops))
		}
	}
	f.trackerMicros = f.per(time.Since(t0))
}

func (f *figures) per(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / 1000 / float64(f.Rounds)
}

// comparison is the table of all rounds.
func comparison(ours, theirs [][]figures) string {
	var b strings.Builder
	b.WriteString("Microseconds (bytes in the last lines) per flush, and how often ours fits in theirs: median of the rounds (least to most).\n\n")
	b.WriteString("| window | step | | JavaScript | Go | ratio |\n|---|---|---|---|---|---|\n")
	for c := range ours[0] {
		for _, row := range []struct {
			name     string
			js, mine func(f figures) float64
		}{
			{"flush, Document", func(f figures) float64 { return f.FlushMicros }, func(f figures) float64 { return f.FlushMicros }},
			{"flush, Tracker", func(f figures) float64 { return f.FlushMicros }, func(f figures) float64 { return f.trackerMicros }},
			{"encode", func(f figures) float64 { return f.EncodeMicros }, func(f figures) float64 { return f.EncodeMicros }},
			{"flush + encode, Document", func(f figures) float64 { return f.FlushMicros + f.EncodeMicros }, func(f figures) float64 { return f.FlushMicros + f.EncodeMicros }},
			{"flush + encode, Batch", func(f figures) float64 { return f.FlushMicros + f.EncodeMicros }, func(f figures) float64 { return f.batchMicros }},
			{"decode + apply, Replica", func(f figures) float64 { return f.FoldMicros }, func(f figures) float64 { return f.FoldMicros }},
			{"bytes on the wire", func(f figures) float64 { return f.WireBytesPerFlush }, func(f figures) float64 { return f.WireBytesPerFlush }},
		} {
			var js, mine, ratios []float64
			for round := range ours {
				js = append(js, row.js(theirs[round][c]))
				mine = append(mine, row.mine(ours[round][c]))
				ratios = append(ratios, js[round]/mine[round])
			}
			slices.Sort(js)
			slices.Sort(mine)
			slices.Sort(ratios)
			middle := len(ratios) / 2
			fmt.Fprintf(&b, "| %d | %d | %s | %.2f | %.2f | %.1f (%.1f–%.1f) |\n", ours[0][c].WindowUnits, ours[0][c].ChunkUnits,
				row.name, js[middle], mine[middle], ratios[middle], ratios[0], ratios[len(ratios)-1])
		}
	}
	return b.String()
}
