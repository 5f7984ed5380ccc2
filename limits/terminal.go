package limits

// This file is step 2b, bytes to text: UTF-8 is decoded, control characters and escape sequences
// are carried out or removed.

import "unicode/utf8"

// Terminal says how the bytes of a command are read as text. The zero value is a terminal of 50
// rows that is too wide for lines to wrap, as suits a pipe.
type Terminal struct {
	// Columns is the width that lines wrap at, 1 to 2048 cells; 0 means 2048, too wide to
	// matter but for a carriage return in a very long line.
	Columns int
	// Rows is the height of the screen, and so how far up the cursor reaches; 0 means 50.
	Rows int
	// Raw leaves escape sequences and carriage returns without effect: control characters
	// are removed, and everything else is text.
	Raw bool
}

const (
	bel = 0x07
	can = 0x18
	sub = 0x1A
	esc = 0x1B
)

// terminal turns the raw bytes of a command into settled text and the lines that can still
// change. The result does not depend on how the bytes are divided into writes.
type terminal struct {
	screen screen
	raw    bool

	partial [utf8.UTFMax]byte // the beginning of a character
	pending int               // bytes in partial

	sequence  sequence // the escape sequence being read, if any
	charsets  charsets
	alternate bool // the alternate screen is shown: nothing comes of what is printed
	// unseen counts the newlines that came on the alternate screen since there was text.
	unseen int64
	// last is the character just printed, which can be repeated; 0 when there is none.
	last     rune
	gathered []byte // where gather puts text together
}

func newTerminal(t Terminal, text settled, reach int) terminal {
	made := terminal{raw: t.Raw, screen: screen{text: text, reach: reach}}
	made.screen.resize(t.Columns, t.Rows)
	return made
}

func (t *terminal) write(p []byte) {
	for len(p) > 0 {
		switch {
		case t.pending > 0:
			p = p[t.resume(p[0]):]
		case t.sequence.state == ground:
			p = p[t.text(p):]
		default:
			p = p[t.escape(p[0]):]
		}
	}
}

// run returns how much of the beginning of p is plain text, to be printed as it is.
func (t *terminal) run(p []byte) (n int, c counts) {
	if t.pending > 0 || t.sequence.state != ground {
		return 0, c
	}
	return plainRun(p)
}

// finish ends the stream: nothing can complete a character or change a line any more.
func (t *terminal) finish() {
	if t.pending > 0 {
		t.pending = 0
		t.replacement()
	}
	t.gathered = nil
	t.screen.finish()
}

// text handles what p begins with outside of sequences and returns how much that was.
func (t *terminal) text(p []byte) int {
	n, c := plainRun(p)
	if n < shortText && n < len(p) {
		if m := t.gather(p, n, c); m > 0 {
			return m
		}
	}
	if n > 0 {
		t.print(p[:n], c)
		if n == len(p) {
			return n
		}
	}
	switch b := p[n]; {
	case b == esc && !t.raw:
		if size := colour(p[n:]); size > 0 {
			t.last = 0
			return n + size
		}
		t.sequence.begin()
	case b >= utf8.RuneSelf:
		return n + t.multibyte(p[n:])
	case t.raw:
	case b == '\r' && n+1 < len(p) && p[n+1] == '\n':
		// The newline does it.
	default:
		t.control(b)
	}
	return n + 1
}

func (t *terminal) print(p []byte, c counts) {
	switch {
	case t.alternate:
		t.unseen += int64(c.newlines)
	case t.charsets.graphic():
		t.unseen = 0
		t.printGraphics(p)
	default:
		t.unseen = 0
		if t.last = rune(p[len(p)-1]); t.last >= utf8.RuneSelf {
			t.last, _ = utf8.DecodeLastRune(p)
		}
		t.screen.print(p, c)
	}
}

// multibyte handles a sequence that plainRun stopped at: a C1 control, a malformed one, or
// the beginning of one that a later write completes.
func (t *terminal) multibyte(p []byte) int {
	r, size, s := classify(p)
	switch s {
	case complete:
		t.control8(r)
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
		t.control8(r)
	} else {
		t.print(t.partial[:size], counts{units: units16(t.partial[:size])})
	}
	return 1
}

var replacementChar = []byte("\uFFFD")

func (t *terminal) replacement() {
	t.print(replacementChar, counts{units: 1})
}
