//go:build linux

package test

// This file turns raw output into text, the naive way: what a person would have seen on an
// endless page. Everything is decided within one line, because a newline ends whatever is
// under way.

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

const (
	// reach is the length in bytes over which an unfinished line loses its beginning to
	// the text, where a carriage return does not come any more; kept is what stays.
	reach = 4096
	kept  = 2048
)

// plainText returns the text of raw output: UTF-8, each maximal invalid sequence as one
// U+FFFD, no escape sequences or control characters, carriage returns obeyed.
func plainText(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for line := range bytes.Lines(raw) {
		line, ended := bytes.CutSuffix(line, []byte("\n"))
		out = appendLine(out, line)
		if ended {
			out = append(out, '\n')
		}
	}
	return out
}

// appendLine appends the text of a line.
//
//go:norace
func appendLine(out, line []byte) []byte {
	if bytes.IndexByte(line, '\r') < 0 {
		return appendChars(out, line)
	}
	var shown []rune
	column, size := 0, 0
	for _, r := range string(appendChars(nil, line)) {
		if r == '\r' {
			column = 0
			continue
		}
		if column == len(shown) {
			shown = append(shown, r)
		} else {
			size -= utf8.RuneLen(shown[column])
			shown[column] = r
		}
		column++
		if size += utf8.RuneLen(r); size <= reach {
			continue
		}
		for size > kept {
			out = utf8.AppendRune(out, shown[0])
			size -= utf8.RuneLen(shown[0])
			shown = shown[1:]
			column = max(0, column-1)
		}
	}
	return append(out, string(shown)...)
}

// appendChars appends the characters of a line, carriage returns among them. It looks at every
// byte of the volume test alone with it, so the race detector is spared them.
//
//go:norace
func appendChars(out, line []byte) []byte {
	for len(line) > 0 {
		size, shown := 0, true
		for size < len(line) && line[size] >= ' ' && line[size] < 0x7F {
			size++
		}
		if size > 0 {
			out, line = append(out, line[:size]...), line[size:]
			continue
		}
		size = 1
		switch b := line[0]; {
		case b == 0x1B:
			size, shown = sequenceSize(line), false
		case b >= utf8.RuneSelf:
			var r rune
			if r, size = utf8.DecodeRune(line); r == utf8.RuneError && size == 1 {
				out = append(out, "\uFFFD"...)
				size, shown = invalidSize(line), false
			} else if isControl(r) {
				// C1: one character for ESC and a letter, and as many bytes.
				seven := append([]byte{0x1B, byte(r) - 0x40}, line[size:]...)
				size, shown = sequenceSize(seven), false
			}
		default:
			shown = b == '\r' || !isControl(rune(b))
		}
		if shown {
			out = append(out, line[:size]...)
		}
		line = line[size:]
	}
	return out
}

// invalidSize returns the size of the maximal invalid sequence that p begins with: as much as
// could have become a character, or else one byte.
func invalidSize(p []byte) int {
	size := 0
	for size < len(p) && !utf8.FullRune(p[:size+1]) {
		size++
	}
	return max(1, size)
}

// sequenceSize returns the size of the escape sequence that p begins with, all of p if it has
// no end (ECMA-48, 5.3 to 5.6).
func sequenceSize(p []byte) int {
	if len(p) < 2 {
		return len(p)
	}
	switch p[1] {
	case '[':
		for i, b := range p[2:] {
			if b >= 0x40 && b <= 0x7E {
				return 2 + i + 1
			}
		}
		return len(p)
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(p); i++ {
			if p[1] == ']' && p[i] == 0x07 {
				return i + 1
			}
			if p[i-1] == 0x1B && p[i] == '\\' {
				return i + 1
			}
		}
		return len(p)
	}
	for i, b := range p[1:] {
		if b >= 0x30 {
			return 1 + i + 1
		}
	}
	return len(p)
}

func TestPlainText(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), reach+1))
	for _, c := range []struct{ raw, want string }{
		{"", ""},
		{"a\r\nb\n", "a\nb\n"},
		{"abcdef\rXY", "XYcdef"},
		{"10%\r20%\rdone\n", "done\n"},
		{"a\tb\a\b\x7fc\x00", "a\tbc"},
		{"€\rx", "x"},
		{"x\xe2\x82y", "x\uFFFDy"},
		{"\xff\xfe|\xf0\x9f\x98|\xc0\xaf|\xed\xa0\xbd", "\uFFFD\uFFFD|\uFFFD|\uFFFD\uFFFD|\uFFFD\uFFFD\uFFFD"},
		{"a\u009b31mred\u0085next\u009dttl\a.", "arednext."},
		{"\x1b[35mpink\x1b[0m \x1b]2;ttl\aend", "pink end"},
		{"\x1b]2;never\ntail\n", "\ntail\n"},
		{"\x1b(Bplain\x1bP1;2qdata\x1b\\.", "plain."},
		{long + "\rY\n", long[:reach+1-kept] + "Y" + long[:kept-1] + "\n"},
		{long[:reach] + "\rY\n", "Y" + long[:reach-1] + "\n"},
	} {
		if got := string(plainText([]byte(c.raw))); got != c.want {
			t.Errorf("plainText(%.80q) = %.80q, want %.80q", c.raw, got, c.want)
		}
	}
}
