package limits

// This file reads escape sequences, byte by byte.

import (
	"encoding/binary"
	"math/bits"
)

// maxSequence bounds an escape sequence in bytes. A longer one is abandoned, and what follows
// is text again.
const maxSequence = 4096

const (
	// maxParameters is how many parameters of a control sequence are kept.
	maxParameters = 16
	// maxParameter bounds each: no screen is larger.
	maxParameter = 1 << 15
)

type sequenceState uint8

const (
	ground       sequenceState = iota
	escape                     // after ESC
	escapeMiddle               // after ESC and intermediates
	csi                        // control sequence: to its final byte
	stringBody                 // OSC, DCS, SOS, PM, APC: to ST, an OSC to BEL too
)

// sequence is the escape sequence being read. The states are those of the DEC VT500 parser that
// vt100.net describes, with two differences: a newline abandons any sequence, so that an
// unterminated one swallows no later line, and strings are skipped, not interpreted.
type sequence struct {
	state sequenceState
	size  int  // bytes so far
	osc   bool // the string is an OSC, which BEL ends
	last  byte // the previous byte of the string

	middle     byte // the intermediate or private marker; 0xFF when there are several
	parameters [maxParameters]int
	count      int  // parameters begun
	odd        bool // a form that no sequence known here has
}

// begin starts a new sequence after its ESC.
func (q *sequence) begin() { *q = sequence{state: escape} }

func (q *sequence) enter(s sequenceState) {
	*q = sequence{state: s}
}

// parameter returns the i-th parameter, least if it is left out or less than that.
func (q *sequence) parameter(i, least int) int {
	if i >= q.count {
		return least
	}
	return max(least, q.parameters[i])
}

// collect takes a byte of a control sequence before its final one.
func (q *sequence) collect(b byte) {
	switch {
	case b >= '0' && b <= '9':
		q.count = max(q.count, 1)
		if i := q.count - 1; i < maxParameters {
			q.parameters[i] = min(maxParameter, q.parameters[i]*10+int(b-'0'))
		}
	case b == ';':
		q.count = min(maxParameters+1, max(q.count, 1)+1)
	case b == ':':
		q.odd = true
	default:
		q.intermediate(b)
	}
}

func (q *sequence) intermediate(b byte) {
	if q.middle != 0 {
		b = 0xFF
	}
	q.middle = b
}

// colour returns the length of the whole sequence for colours and the like that p begins with,
// or 0: the short way for the most frequent sequence, which changes nothing here.
func colour(p []byte) int {
	if len(p) < 2 || p[1] != '[' {
		return 0
	}
	n := 2
	if len(p) >= n+8 {
		n += parametersIn(binary.LittleEndian.Uint64(p[n:]))
		if n < 2+8 {
			if p[n] == 'm' {
				return n + 1
			}
			return 0
		}
	}
	for n < len(p) && n < maxSequence && p[n] >= '0' && p[n] <= ';' {
		n++
	}
	if n < len(p) && n < maxSequence && p[n] == 'm' {
		return n + 1
	}
	return 0
}

// parametersIn returns how many of the eight bytes x begins with are of parameters: '0' to ';'.
func parametersIn(x uint64) int {
	x ^= '0' * ones // 0 to 11
	other := ((x &^ highs) + (0x80-12)*ones | x) & highs
	return bits.TrailingZeros64(other) / 8
}

func isStringOpener(b byte) bool {
	return b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_'
}

// control8 handles a C1 control: one character for ESC and a letter. Those that do not begin a
// longer sequence are removed.
func (t *terminal) control8(r rune) {
	if b := byte(r) - 0x40; !t.raw && (b == '[' || isStringOpener(b)) {
		t.sequence.begin()
		t.escape(b)
	}
}

// escape handles one byte inside an escape sequence and returns 1, or 0 when the byte ends
// the sequence without belonging to it.
func (t *terminal) escape(b byte) int {
	q := &t.sequence
	q.size++
	switch {
	case b == '\n':
		q.state = ground
		return 0
	case b == esc && q.state != stringBody:
		q.begin()
		return 1
	case b == can || b == sub || q.size >= maxSequence:
		q.state = ground
		return 1
	}
	switch {
	case q.state == stringBody:
		return t.inString(b)
	case b == 0x7F:
	case b > 0x7F:
		q.state = ground
		return 0
	case b < 0x20:
		t.control(b)
	case q.state == csi && b >= 0x40:
		q.state = ground
		t.controlSequence(b)
	case q.state == csi:
		q.collect(b)
	case b < 0x30:
		q.state = escapeMiddle
		q.intermediate(b)
	case q.state == escape && b == '[':
		q.enter(csi)
	case q.state == escape && isStringOpener(b):
		q.enter(stringBody)
		q.osc = b == ']'
	default:
		q.state = ground
		t.escapeSequence(b)
	}
	return 1
}

// inString handles one byte of an OSC, DCS, SOS, PM or APC string. ST is ESC \ or U+009C.
func (t *terminal) inString(b byte) int {
	q := &t.sequence
	last := q.last
	q.last = b
	switch {
	case last == esc && b == '\\', last == 0xC2 && b == 0x9C:
		q.state = ground
	case last == esc: // the string was cut off by another sequence
		q.begin()
		return t.escape(b)
	case q.osc && b == bel:
		q.state = ground
	}
	return 1
}
