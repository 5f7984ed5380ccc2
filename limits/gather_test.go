package limits

import (
	"testing"

	"pgregory.net/rapid"
)

// TestGather: short pieces of text and what is between them come to the same, position and all,
// whether they are put together or come byte by byte.
func TestGather(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "word", " some words ", "\n", "\t", "\r\n", "é", "日本", "😀", "😀é😀", "a long piece of text, longer than what is copied at once",
		"\033[m", "\033[0m", "\033[1;31m", "\033[38;2;255;128;0m", "\033[K", "\033[3b", "\033[", "\033]0;t\007", "\033(0", "\033(B",
		"\x0e", "\x0f", "\033)0", "\x00", "\x07", "\x7f", "\x0c", "\b", "\r", "\xff", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\xbd", "\u0085", "\u009b1m", "\033[?1049h", "\033[?1049l",
	})
	rapid.Check(t, func(t *rapid.T) {
		var raw []byte
		usual := rapid.SliceOfN(piece, 1, 6).Draw(t, "usual")
		for range rapid.IntRange(1, 100).Draw(t, "pieces") {
			p := rapid.SampledFrom(usual)
			if rapid.IntRange(0, 20).Draw(t, "other") == 0 {
				p = piece
			}
			raw = append(raw, p.Draw(t, "piece")...)
		}
		term := Terminal{Columns: rapid.SampledFrom([]int{0, 7, 80}).Draw(t, "columns"), Raw: rapid.IntRange(0, 9).Draw(t, "raw") == 0}
		l := Limits{MaxBytes: 1 << 20, MaxLines: 1 << 20}
		whole, bytewise := NewWindow(l, term), NewWindow(l, term)
		whole.Write(raw)
		for i := range raw {
			bytewise.Write(raw[i : i+1])
		}
		if got, want := whole.terminal.last, bytewise.terminal.last; got != want {
			t.Fatalf("%+v, %q\n%q can be repeated, want %q", term, raw, got, want)
		}
		whole.Finish()
		bytewise.Finish()
		got, _ := whole.Text()
		if want, _ := bytewise.Text(); got != want {
			t.Fatalf("%+v, %q\nshows %q\nwant  %q", term, raw, got, want)
		}
		if got, want := whole.settled.ended(), bytewise.settled.ended(); got != want {
			t.Fatalf("%+v, %q\nends at %+v, want %+v", term, raw, got, want)
		}
		if whole.Truncation() != bytewise.Truncation() {
			t.Fatalf("%+v, %q\nsays %+v, want %+v", term, raw, whole.Truncation(), bytewise.Truncation())
		}
	})
}
