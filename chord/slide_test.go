// Sliding texts, against plain concatenation.

package chord

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// TestSlider has several texts take turns, among them equal ones and more than
// there are buffers, and looks at all strings ever made again in the end.
func TestSlider(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sl slider
		type made struct{ got, want string }
		var all []made
		texts := make([]string, maxSliding+2)
		for i := range texts {
			texts[i] = strings.Repeat("0123456789abcdef", rapid.IntRange(60, 70).Draw(t, "length"))
		}
		wants := make([]string, len(texts))
		for i, text := range texts {
			wants[i] = strings.Clone(text)
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, len(texts)-1).Draw(t, "text")
			units := utf16.Encode([]rune(texts[i]))
			from := rapid.IntRange(0, len(units)).Draw(t, "from")
			if rapid.Bool().Draw(t, "little") {
				from %= 40
			}
			from = min(from, len(units))
			added := strings.Repeat(rapid.SampledFrom([]string{"", "x", "yz", "é", "x€", "𝄞"}).Draw(t, "added"), rapid.IntRange(0, 300).Draw(t, "times"))
			got, err := sl.slide(texts[i], from, added)
			if split := 0 < from && from < len(units) && utf16.IsSurrogate(rune(units[from])) && units[from] >= 0xDC00; split != (err == errSplit) || !split && err != nil {
				t.Fatalf("text %d after -%d units: %v, want errSplit to be %v", i, from, err, split)
			}
			if err != nil {
				continue
			}
			texts[i] = got
			wants[i] = string(utf16.Decode(units[from:])) + added
			if texts[i] != wants[i] {
				t.Fatalf("text %d after -%d +%d bytes: got %d bytes, want %d", i, from, len(added), len(texts[i]), len(wants[i]))
			}
			all = append(all, made{texts[i], wants[i]})
			if rapid.IntRange(0, 9).Draw(t, "copy") == 0 {
				j := rapid.IntRange(0, len(texts)-1).Draw(t, "to")
				texts[j], wants[j] = texts[i], wants[i]
			}
		}
		for i, m := range all {
			if m.got != m.want {
				t.Fatalf("string %d changed after it was made", i)
			}
		}
	})
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
