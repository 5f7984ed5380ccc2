//go:build linux

package test

// This file makes the view that a text must come to, the naive way.

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/execagent/execagent/limits"
	"github.com/google/go-cmp/cmp"
)

// want is the part of a final view that follows from the output alone.
type want struct {
	Text          string
	Truncation    limits.Truncation
	LastLineBytes int64
}

// wantView returns the final view of raw output whose text is text.
func wantView(raw, text []byte, l limits.Limits) want {
	l, err := l.Resolve()
	if err != nil {
		panic(err)
	}
	choose := tailOf
	if l.Retain == limits.RetainHead {
		choose = headOf
	}
	begin, end, by, cut := choose(text, l)
	w := want{Text: string(text[begin:end]), Truncation: limits.Truncation{
		Truncated:       by != "",
		TotalLines:      countLines(string(raw)),
		TotalBytes:      int64(len(raw)),
		FirstLine:       int64(bytes.Count(text[:begin], []byte("\n"))) + 1,
		OutputLines:     countLines(string(text[begin:end])),
		OutputBytes:     int64(end - begin),
		LastLinePartial: cut,
		MaxLines:        l.MaxLines,
		MaxBytes:        l.MaxBytes,
	}}
	if by != "" {
		w.Truncation.TruncatedBy = &by
	}
	if cut && l.Retain == limits.RetainHead {
		w.LastLineBytes = int64(lineEnd(text, end) - lineBegin(text, end))
		w.Truncation.FirstLineExceedsLimit = lineBegin(text, end) == 0
	} else if cut {
		w.LastLineBytes = int64(len(text) - lineBegin(text, len(text)-1))
	}
	return w
}

// tailOf takes lines from the end while they fit; of a last line that does not, its end.
func tailOf(text []byte, l limits.Limits) (begin, end int, by limits.Bound, cut bool) {
	begin, end = len(text), len(text)
	for lines := 0; begin > 0; lines++ {
		if lines == l.MaxLines {
			return begin, end, limits.ByLines, false
		}
		next := lineBegin(text, begin-1)
		if end-next > l.MaxBytes {
			by = limits.ByBytes
			break
		}
		begin = next
	}
	if begin == end && by != "" {
		for begin = end - l.MaxBytes; begin < end && !utf8.RuneStart(text[begin]); begin++ {
		}
		cut = true
	}
	return begin, end, by, cut
}

// headOf takes lines from the beginning while they fit; of the first that does not, its
// beginning.
func headOf(text []byte, l limits.Limits) (begin, end int, by limits.Bound, cut bool) {
	for lines := 0; end < len(text); lines++ {
		if lines == l.MaxLines {
			return 0, end, limits.ByLines, false
		}
		if next := lineEnd(text, end); next <= l.MaxBytes {
			end = next
			continue
		}
		whole := end
		for end = l.MaxBytes; !utf8.RuneStart(text[end]); end-- {
		}
		return 0, end, limits.ByBytes, end > whole
	}
	return 0, end, "", false
}

// lineBegin returns where the line begins that the byte at i belongs to.
func lineBegin(text []byte, i int) int { return bytes.LastIndexByte(text[:i], '\n') + 1 }

// lineEnd returns the end of the line, newline included, that the byte at i belongs to.
func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// got returns the part of an outcome that is compared with a want.
func (o *outcome) got() want {
	return want{o.text(), o.view.Truncation, o.view.LastLineBytes}
}

// checkWant compares an outcome with what the output must come to.
func checkWant(t testing.TB, o *outcome, w want) {
	t.Helper()
	if diff := cmp.Diff(w, o.got()); diff != "" {
		t.Errorf("final view, want (-) got (+):\n%s", diff)
	}
}

func TestWantView(t *testing.T) {
	by := func(b limits.Bound) *limits.Bound { return &b }
	for _, c := range []struct {
		text   string
		limits limits.Limits
		want   want
	}{
		{"a\nb", limits.Limits{}, want{"a\nb", limits.Truncation{FirstLine: 1, OutputLines: 2, OutputBytes: 3}, 0}},
		{"a\nb\nc\n", limits.Limits{MaxLines: 2}, want{"b\nc\n", limits.Truncation{
			Truncated: true, TruncatedBy: by("lines"), FirstLine: 2, OutputLines: 2, OutputBytes: 4}, 0}},
		{"a\nb\nc\n", limits.Limits{MaxBytes: 5}, want{"b\nc\n", limits.Truncation{
			Truncated: true, TruncatedBy: by("bytes"), FirstLine: 2, OutputLines: 2, OutputBytes: 4}, 0}},
		{"a\n€uro\n", limits.Limits{MaxBytes: 6}, want{"uro\n", limits.Truncation{
			Truncated: true, TruncatedBy: by("bytes"), FirstLine: 2, OutputLines: 1, OutputBytes: 4, LastLinePartial: true}, 7}},
		{"a\nb\nc\n", limits.Limits{MaxLines: 2, Retain: "head"}, want{"a\nb\n", limits.Truncation{
			Truncated: true, TruncatedBy: by("lines"), FirstLine: 1, OutputLines: 2, OutputBytes: 4}, 0}},
		{"a\nb\nc\n", limits.Limits{MaxBytes: 4, Retain: "head"}, want{"a\nb\n", limits.Truncation{
			Truncated: true, TruncatedBy: by("bytes"), FirstLine: 1, OutputLines: 2, OutputBytes: 4}, 0}},
		{"a\nx€\n", limits.Limits{MaxBytes: 5, Retain: "head"}, want{"a\nx", limits.Truncation{
			Truncated: true, TruncatedBy: by("bytes"), FirstLine: 1, OutputLines: 2, OutputBytes: 3, LastLinePartial: true}, 5}},
		{"long\n", limits.Limits{MaxBytes: 2, Retain: "head"}, want{"lo", limits.Truncation{
			Truncated: true, TruncatedBy: by("bytes"), FirstLine: 1, OutputLines: 1, OutputBytes: 2, LastLinePartial: true,
			FirstLineExceedsLimit: true}, 5}},
	} {
		resolved, err := c.limits.Resolve()
		if err != nil {
			t.Fatal(err)
		}
		c.want.Truncation.MaxBytes, c.want.Truncation.MaxLines = resolved.MaxBytes, resolved.MaxLines
		c.want.Truncation.TotalBytes, c.want.Truncation.TotalLines = int64(len(c.text)), countLines(c.text)
		if diff := cmp.Diff(c.want, wantView([]byte(c.text), []byte(c.text), c.limits)); diff != "" {
			t.Errorf("%q within %+v, want (-) got (+):\n%s", c.text, c.limits, diff)
		}
	}
}
