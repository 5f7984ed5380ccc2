package limits

// This file is step 2b, bytes to text: UTF-8 is decoded, escape sequences and control
// characters are removed, and a carriage return goes back to the start of the line.

import (
	"bytes"
	"unicode/utf8"
)

// maxSequence bounds an escape sequence in bytes. A longer one is abandoned, and what follows
// is text again.
const maxSequence = 4096

type terminalState uint8

const (
	ground       terminalState = iota
	escape                     // after ESC
	escapeMiddle               // after ESC and intermediates
	csi                        // control sequence: to its final byte
	stringBody                 // OSC, DCS, SOS, PM, APC: to ST, an OSC to BEL too
)

const (
	bel = 0x07
	can = 0x18
	sub = 0x1A
	esc = 0x1B
)

// terminal turns the raw bytes of a command into settled text and an unfinished line. The
// states are those of the DEC VT500 parser that vt100.net describes, with two differences: a
// newline abandons any sequence, so that an unterminated one swallows no later line, and
// strings are skipped, not interpreted.
//
// The result does not depend on how the bytes are divided into writes.
type terminal struct {
	settle func(p []byte, c counts) // takes finished text

	line    line
	partial [utf8.UTFMax]byte // the beginning of a character
	pending int               // bytes in partial
	state   terminalState
	osc     bool // the string is an OSC, which BEL ends
	last    byte // the previous byte of the string
	skipped int  // bytes of the sequence so far
	printed bool // text came since the flag was last cleared
}

// init sets where finished text goes.
func (t *terminal) init(settle func(p []byte, c counts)) {
	t.settle = settle
	t.line.settle = t.settleText
}

func (t *terminal) write(p []byte) {
	for len(p) > 0 {
		switch {
		case t.pending > 0:
			p = p[t.resume(p[0]):]
		case t.state == ground:
			p = p[t.text(p):]
		default:
			p = p[t.sequence(p[0]):]
		}
	}
}

// finish ends the stream: nothing can complete a character or rewrite the line any more.
func (t *terminal) finish() {
	if t.pending > 0 {
		t.pending = 0
		t.replacement()
	}
	t.settleLine()
}

// text handles what p begins with in the ground state and returns how much that was.
func (t *terminal) text(p []byte) int {
	if n, c := plainRun(p); n > 0 {
		t.print(p[:n], c)
		return n
	}
	switch b := p[0]; {
	case b == '\r':
		t.line.cur = 0
	case b == esc:
		if n := wholeCSI(p); n > 0 {
			return n
		}
		t.enter(escape)
	case b >= utf8.RuneSelf:
		return t.multibyte(p)
	}
	return 1
}

// wholeCSI returns the length of the control sequence that p begins with, or 0 when it is not
// one, not complete or not well formed: the short way for what colours are made of.
func wholeCSI(p []byte) int {
	if len(p) < 2 || p[1] != '[' {
		return 0
	}
	for i := 2; i < len(p) && i < maxSequence; i++ {
		if b := p[i]; b < 0x20 || b >= 0x7F {
			return 0
		} else if b >= 0x40 {
			return i + 1
		}
	}
	return 0
}

// multibyte handles a sequence that plainRun stopped at: a C1 control, a malformed one, or
// the beginning of one that a later write completes.
func (t *terminal) multibyte(p []byte) int {
	r, size, s := classify(p)
	switch s {
	case complete:
		t.control(r)
	case malformed:
		t.replacement()
	case incomplete:
		t.pending = copy(t.partial[:], p[:size])
	}
	return size
}

// resume adds b to the character begun in an earlier write and returns 1, or 0 when b does
// not belong to it.
func (t *terminal) resume(b byte) int {
	t.partial[t.pending] = b
	r, size, s := classify(t.partial[:t.pending+1])
	switch s {
	case incomplete:
		t.pending++
		return 1
	case malformed:
		t.pending = 0
		t.replacement()
		return 0
	}
	t.pending = 0
	if isC1(r) {
		t.control(r)
	} else {
		t.print(t.partial[:size], counts{units: units16(t.partial[:size])})
	}
	return 1
}

// control handles a C1 control: the one-character forms of ESC and a letter.
func (t *terminal) control(r rune) {
	if r == 0x9B || isStringOpener(byte(r)-0x40) {
		t.enter(escape)
		t.sequence(byte(r) - 0x40)
	}
}

func isStringOpener(b byte) bool {
	return b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_'
}

var replacementChar = []byte("\uFFFD")

func (t *terminal) replacement() {
	t.print(replacementChar, counts{units: 1})
}

func (t *terminal) enter(s terminalState) {
	t.state = s
	t.skipped = 0
	t.last = 0
}

// sequence handles one byte inside an escape sequence and returns 1, or 0 when the byte ends
// the sequence without belonging to it.
func (t *terminal) sequence(b byte) int {
	t.skipped++
	switch {
	case b == '\n':
		t.state = ground
		return 0
	case b == esc && t.state != stringBody:
		t.enter(escape)
		return 1
	case b == can || b == sub || t.skipped >= maxSequence:
		t.state = ground
		return 1
	}
	if t.state == stringBody {
		return t.inString(b)
	}
	switch {
	case b >= 0x7F:
		if b == 0x7F {
			return 1
		}
		t.state = ground
		return 0
	case b < 0x20:
	case t.state == csi:
		if b >= 0x40 {
			t.state = ground
		}
	case b < 0x30:
		t.state = escapeMiddle
	case t.state == escape && b == '[':
		t.enter(csi)
	case t.state == escape && isStringOpener(b):
		t.enter(stringBody)
		t.osc = b == ']'
	default:
		t.state = ground
	}
	return 1
}

// inString handles one byte of an OSC, DCS, SOS, PM or APC string. ST is ESC \ or U+009C.
func (t *terminal) inString(b byte) int {
	last := t.last
	t.last = b
	switch {
	case last == esc && b == '\\', last == 0xC2 && b == 0x9C, t.osc && b == bel:
		t.state = ground
	case last == esc: // the string was cut off by another sequence
		t.enter(escape)
		return t.sequence(b)
	}
	return 1
}

// print puts text at the cursor. c counts p.
func (t *terminal) print(p []byte, c counts) {
	t.printed = true
	ascii := c.units == len(p)
	for c.newlines > 0 && !t.line.atEnd() {
		end := bytes.IndexByte(p, '\n')
		t.line.overwrite(p[:end], ascii)
		t.settleLine()
		t.settle(newline, counts{1, 1})
		c.newlines--
		p = p[end+1:]
	}
	if c.newlines > 0 {
		end := bytes.LastIndexByte(p, '\n') + 1
		t.settleLine()
		units := end
		if !ascii {
			units = units16(p[:end])
		}
		t.settle(p[:end], counts{units, c.newlines})
		p = p[end:]
	}
	switch {
	case len(p) == 0:
	case t.line.atEnd():
		t.line.append(p, ascii)
	default:
		t.line.overwrite(p, ascii)
	}
}

// settleLine moves the whole unfinished line into the settled text.
func (t *terminal) settleLine() {
	if len(t.line.buf) > 0 {
		t.settleText(t.line.buf)
	}
	t.line.clear()
}

// settleText moves text without newlines into the settled text.
func (t *terminal) settleText(p []byte) {
	t.settle(p, counts{units: units16(p)})
}
