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
func oracle(raw []byte, l Limits, t Terminal) (text string, tr Truncation, lastLineBytes int64) {
	full, unseen := oracleText(raw, t)
	skew := int64(strings.Count(string(raw), "\n") - strings.Count(full, "\n") - unseen)
	if unfinished := full != "" && !strings.HasSuffix(full, "\n"); unfinished && unseen == 0 && raw[len(raw)-1] == '\n' {
		skew-- // the cursor had left the last line, and the last newline came back to it
	}
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
		if len(text) < len(full) {
			tr.FirstLine = max(1, tr.FirstLine+skew)
		}
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
