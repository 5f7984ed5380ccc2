// Sliding texts, against plain concatenation.

package chord

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// TestSlider has several texts of a document take turns, among them equal ones and
// more than there are buffers, and looks at all strings ever made again in the end.
func TestSlider(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type made struct{ got, want string }
		var all []made
		texts := make([]any, maxSliding+2)
		wants := make([]string, len(texts))
		for i := range texts {
			wants[i] = strings.Repeat("0123456789abcdef", rapid.IntRange(60, 70).Draw(t, "length"))
			texts[i] = strings.Clone(wants[i])
		}
		a := applier{doc: texts, texts: &slider{}}
		look := func() {
			a.texts.settle(&a.doc, nil)
			for i, want := range wants {
				if texts[i] != want {
					t.Fatalf("text %d has %d bytes, want %d", i, len(texts[i].(string)), len(want))
				}
				all = append(all, made{texts[i].(string), want})
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			// One of them more often, or none would fill its buffer before somebody looks.
			i := max(0, rapid.IntRange(-len(texts), len(texts)-1).Draw(t, "text"))
			units := utf16.Encode([]rune(wants[i]))
			from := rapid.IntRange(0, len(units)).Draw(t, "from")
			if rapid.Bool().Draw(t, "little") {
				from %= 40
			}
			from = min(from, len(units))
			added := strings.Repeat(rapid.SampledFrom([]string{"", "x", "yz", "é", "x€", "𝄞"}).Draw(t, "added"), rapid.IntRange(0, 1500).Draw(t, "times"))
			err := a.text(&Op{Verb: Truncate, Path: P(i), Count: from}, added)
			split := 0 < from && from < len(units) && utf16.IsSurrogate(rune(units[from])) && units[from] >= 0xDC00
			if split != (err != nil) {
				t.Fatalf("text %d after -%d units: %v, want an error to be %v", i, from, err, split)
			}
			if err == nil {
				wants[i] = string(utf16.Decode(units[from:])) + added
			}
			switch rapid.IntRange(0, 19).Draw(t, "then") {
			case 0:
				look()
			case 1:
				j := rapid.IntRange(0, len(texts)-1).Draw(t, "to")
				a.texts.settle(&a.doc, nil)
				texts[j], wants[j] = texts[i], wants[i]
			case 2:
				a.texts.settle(&a.doc, P(i))
				if texts[i] != wants[i] {
					t.Fatalf("text %d is not settled", i)
				}
			case 3:
				if text := a.texts.find(P(i)); text != nil {
					from := rapid.IntRange(0, text.length).Draw(t, "after")
					got := text.after(from)
					if got != wants[i][from:] {
						t.Fatalf("text %d after byte %d is %d bytes, want %d", i, from, len(got), len(wants[i])-from)
					}
					all = append(all, made{got, wants[i][from:]})
				}
			}
		}
		look()
		for i, m := range all {
			if m.got != m.want {
				t.Fatalf("string %d changed after it was made", i)
			}
		}
	})
}

// TestSlidingKeepsStrings looks now and then at a window that slides, and again at all that it
// saw when the buffers behind have been in use many times.
func TestSlidingKeepsStrings(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		var replica Replica
		window := strings.Repeat("0123456789abcde\n", 256)
		if err := replica.Apply([]Op{{Verb: Replace, Value: map[string]any{"text": window}}}); err != nil {
			t.Fatal(err)
		}
		var seen, want []string
		most := minPending
		for i := range 2000 {
			step := strings.Repeat(string(rune('a'+i%26)), 1+r.IntN(most))
			ops := []Op{{Verb: Truncate, Path: P("text"), Count: len(step)}, {Verb: Append, Path: P("text"), Text: step}}
			if err := replica.Apply(ops); err != nil {
				t.Fatal(err)
			}
			window = window[len(step):] + step
			if r.IntN(30) == 0 {
				// Less than minPending is added at once, and more when somebody looks.
				most = minPending + r.IntN(2)*minPending
				doc, _ := replica.Value()
				seen = append(seen, doc.(map[string]any)["text"].(string))
				want = append(want, strings.Clone(window))
			}
		}
		for i := range seen {
			if seen[i] != want[i] {
				t.Fatalf("seed %d: the text seen at look %d has changed", seed, i)
			}
		}
	}
}

// TestSlidingIsCheap: a replica's window of 50 KiB takes a line at the price of a
// line. Copying the window would be 50 KiB each time.
func TestSlidingIsCheap(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	window := strings.Repeat(line, 512)
	var replica Replica
	if err := replica.Apply([]Op{{Verb: Replace, Value: map[string]any{"text": window}}}); err != nil {
		t.Fatal(err)
	}
	slide := []Op{{Verb: Truncate, Path: P("text"), Count: len(line)}, {Verb: Append, Path: P("text"), Text: line}}
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if err := replica.Apply(slide); err != nil {
				b.Fatal(err)
			}
		}
	})
	if got := result.AllocedBytesPerOp(); got > 1024 {
		t.Errorf("allocates %d bytes for each line of %d, want 1024 at most", got, len(line))
	}
	doc, _ := replica.Value()
	if got := doc.(map[string]any)["text"]; got != window {
		t.Errorf("the window is not the lines that went through")
	}
}
