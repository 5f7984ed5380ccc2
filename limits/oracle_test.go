package limits

// The oracle: what the package promises, computed from all bytes at once, by the book and
// slowly. It shares no code with what it checks.

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// oracle is the final view of raw under l.
func oracle(raw []byte, l Limits) (text string, tr Truncation, lastLineBytes int64) {
	full := oracleText(raw)
	lines := strings.SplitAfter(full, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	tr = Truncation{MaxBytes: l.MaxBytes, MaxLines: l.MaxLines, TotalBytes: int64(len(raw)), FirstLine: 1}
	for _, line := range strings.SplitAfter(string(raw), "\n") {
		if line != "" {
			tr.TotalLines++
		}
	}
	if l.Retain == RetainHead {
		text, lastLineBytes = oracleHead(lines, l, &tr)
	} else {
		text, lastLineBytes = oracleTail(lines, l, &tr)
	}
	tr.OutputBytes = int64(len(text))
	tr.OutputLines = int64(strings.Count(text, "\n"))
	if text != "" && !strings.HasSuffix(text, "\n") {
		tr.OutputLines++
	}
	if text != full {
		tr.Truncated = true
		by := ByBytes
		if tr.OutputLines == int64(l.MaxLines) && !tr.LastLinePartial {
			by = ByLines
		}
		tr.TruncatedBy = &by
	}
	return text, tr, lastLineBytes
}

func oracleTail(lines []string, l Limits, tr *Truncation) (string, int64) {
	text, n := "", 0
	for i := len(lines) - 1; i >= 0; i-- {
		if n == l.MaxLines || len(text)+len(lines[i]) > l.MaxBytes {
			tr.FirstLine = int64(i + 2)
			break
		}
		text = lines[i] + text
		n++
	}
	if n == 0 && len(lines) > 0 {
		last := lines[len(lines)-1]
		cut := last
		for len(cut) > l.MaxBytes {
			_, size := utf8.DecodeRuneInString(cut)
			cut = cut[size:]
		}
		tr.LastLinePartial = true
		tr.FirstLine = int64(len(lines))
		return cut, int64(len(last))
	}
	return text, 0
}

func oracleHead(lines []string, l Limits, tr *Truncation) (string, int64) {
	text := ""
	for i, line := range lines {
		if i == l.MaxLines {
			return text, 0
		}
		if len(text)+len(line) <= l.MaxBytes {
			text += line
			continue
		}
		part := ""
		for _, r := range line {
			if len(text)+len(part)+utf8.RuneLen(r) > l.MaxBytes {
				break
			}
			part += string(r)
		}
		tr.FirstLineExceedsLimit = i == 0
		if part == "" {
			return text, 0
		}
		tr.LastLinePartial = true
		return text + part, int64(len(line))
	}
	return text, 0
}

// oracleText is the text a person would have seen.
func oracleText(raw []byte) string {
	var done strings.Builder
	var cells []string // the unfinished line, a character each
	cur := 0
	size := 0 // bytes in cells
	put := func(s string) {
		if cur < len(cells) {
			size -= len(cells[cur])
			cells[cur] = s
		} else {
			cells = append(cells, s)
		}
		size += len(s)
		cur++
		if size > maxLive {
			for size > keepLive {
				done.WriteString(cells[0])
				size -= len(cells[0])
				cells = cells[1:]
				cur = max(0, cur-1)
			}
		}
	}
	for i := 0; i < len(raw); {
		r, width := oracleRune(raw[i:])
		switch {
		case r == '\n':
			done.WriteString(strings.Join(cells, "") + "\n")
			cells, cur, size = nil, 0, 0
		case r == '\r':
			cur = 0
		case r == 0x1B:
			i = oracleEscape(raw, i+1)
			continue
		case r >= 0x80 && r < 0xA0 && strings.ContainsRune("[]PX^_", r-0x40):
			// ESC is one byte where this is two; the bound counts what follows.
			i = oracleBody(raw, i+2, byte(r)-0x40)
			continue
		case r == '\t', r >= 0x20 && r < 0x7F, r >= 0xA0:
			put(string(r))
		}
		i += width
	}
	return done.String() + strings.Join(cells, "")
}

// oracleRune decodes one character, or U+FFFD for one maximal subpart (Unicode, table 3-7).
func oracleRune(p []byte) (rune, int) {
	type span struct{ low, high byte }
	cont := span{0x80, 0xBF}
	forms := [][]span{
		{{0x00, 0x7F}},
		{{0xC2, 0xDF}, cont},
		{{0xE0, 0xE0}, {0xA0, 0xBF}, cont},
		{{0xE1, 0xEC}, cont, cont},
		{{0xED, 0xED}, {0x80, 0x9F}, cont},
		{{0xEE, 0xEF}, cont, cont},
		{{0xF0, 0xF0}, {0x90, 0xBF}, cont, cont},
		{{0xF1, 0xF3}, cont, cont, cont},
		{{0xF4, 0xF4}, {0x80, 0x8F}, cont, cont},
	}
	longest := 1
	for _, form := range forms {
		n := 0
		for n < len(form) && n < len(p) && p[n] >= form[n].low && p[n] <= form[n].high {
			n++
		}
		if n == len(form) {
			r, _ := utf8.DecodeRune(p[:n])
			return r, n
		}
		longest = max(longest, n)
	}
	return utf8.RuneError, longest
}

// oracleEscape returns the index after the escape sequence whose ESC stands before i.
func oracleEscape(raw []byte, i int) int {
	n := 0 // bytes after ESC
	for ; i < len(raw); i++ {
		b := raw[i]
		n++
		switch {
		case b == '\n':
			return i
		case b == 0x1B:
			return oracleEscape(raw, i+1)
		case b == 0x18, b == 0x1A, n >= maxSequence:
			return i + 1
		case b >= 0x80:
			return i
		case b < 0x20, b == 0x7F:
		case b < 0x30:
			// Intermediates: only a final byte can follow.
			for i++; i < len(raw); i++ {
				n++
				switch b := raw[i]; {
				case b == '\n', b >= 0x80:
					return i
				case b == 0x1B:
					return oracleEscape(raw, i+1)
				case b == 0x18, b == 0x1A, n >= maxSequence, b >= 0x30 && b < 0x7F:
					return i + 1
				}
			}
			return i
		default:
			return oracleBody(raw, i+1, b)
		}
	}
	return i
}

// oracleBody returns the index after a sequence of this kind whose body begins at i.
func oracleBody(raw []byte, i int, kind byte) int {
	switch kind {
	case '[':
		for n := 1; i < len(raw); i, n = i+1, n+1 {
			switch b := raw[i]; {
			case b == '\n', b >= 0x80:
				return i
			case b == 0x1B:
				return oracleEscape(raw, i+1)
			case b == 0x18, b == 0x1A, n >= maxSequence, b >= 0x40 && b < 0x7F:
				return i + 1
			}
		}
	case ']', 'P', 'X', '^', '_':
		for n := 1; i < len(raw); i, n = i+1, n+1 {
			switch b := raw[i]; {
			case b == '\n':
				return i
			case b == 0x18, b == 0x1A, n >= maxSequence, b == 0x07 && kind == ']':
				return i + 1
			case i+1 < len(raw) && n+1 < maxSequence && b == 0x1B && raw[i+1] == '\\',
				i+1 < len(raw) && n+1 < maxSequence && b == 0xC2 && raw[i+1] == 0x9C:
				return i + 2
			case b == 0x1B && n+1 < maxSequence && i+1 < len(raw) && raw[i+1] != '\n' &&
				raw[i+1] != 0x18 && raw[i+1] != 0x1A:
				return oracleEscape(raw, i+1)
			}
		}
	}
	return i
}

// replica is a watcher's copy, folded with the semantics of JavaScript's strings.
type replica struct {
	text       []uint16
	live       string
	truncation Truncation
	lastLine   int64
}

func (r *replica) apply(d *Delta) error {
	if d.Reset {
		r.text = nil
	}
	if d.Truncate > len(r.text) {
		return fmt.Errorf("truncate %d of %d units", d.Truncate, len(r.text))
	}
	r.text = r.text[d.Truncate:]
	r.text = append(r.text, utf16.Encode([]rune(string(d.Append)))...)
	if d.LiveReset {
		r.live = ""
	}
	r.live += string(d.Live)
	r.truncation = d.Truncation
	r.lastLine = d.LastLineBytes
	return nil
}

func (r *replica) view() string { return string(utf16.Decode(r.text)) + r.live }
