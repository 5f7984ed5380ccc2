package limits

// This file is the unfinished line: the only text that can still change.

import "unicode/utf8"

const (
	// maxLive bounds the unfinished line in bytes. A longer one moves its beginning into
	// the settled text, where a carriage return no longer reaches it, so that a gigabyte
	// without a newline is still appends.
	maxLive = 4096
	// keepLive is how much of it stays editable after such a move, in bytes.
	keepLive = 2048
)

// line is the unfinished line and the cursor in it. Its content depends on the characters
// printed and their order only, never on how they were grouped into calls.
type line struct {
	settle func(p []byte) // takes what moves out

	buf []byte
	cur int // the cursor: a byte offset on a character boundary
	// version changes whenever the line does other than grow at its end.
	version uint64
}

// atEnd reports whether printing appends.
func (l *line) atEnd() bool { return l.cur == len(l.buf) }

func (l *line) clear() {
	l.buf = l.buf[:0]
	l.cur = 0
	l.version++
}

// append adds text without newlines at the end, where the cursor is, and moves what no longer
// fits out.
func (l *line) append(p []byte, ascii bool) {
	if len(p) == 0 {
		return
	}
	if len(l.buf)+len(p) <= maxLive {
		l.buf = append(l.buf, p...)
		l.cur = len(l.buf)
		return
	}
	if !ascii {
		for len(p) > 0 {
			_, size := utf8.DecodeRune(p)
			l.buf = append(l.buf, p[:size]...)
			l.cur = len(l.buf)
			l.shorten()
			p = p[size:]
		}
		return
	}
	// What shorten would do byte by byte: whenever maxLive is passed by one byte, all but
	// keepLive go.
	const step = maxLive + 1 - keepLive
	total := len(l.buf) + len(p)
	moved := (total - maxLive + step - 1) / step * step
	if old := len(l.buf); moved >= old {
		l.settle(l.buf)
		l.settle(p[:moved-old])
		l.buf = append(l.buf[:0], p[moved-old:]...)
	} else {
		l.settle(l.buf[:moved])
		l.buf = append(l.buf[:0], l.buf[moved:]...)
		l.buf = append(l.buf, p...)
	}
	l.cur = len(l.buf)
	l.version++
}

// overwrite puts text without newlines at the cursor, one character over another.
func (l *line) overwrite(p []byte, ascii bool) {
	l.version++
	if under := l.buf[l.cur:min(len(l.buf), l.cur+len(p))]; ascii && isASCII(under) {
		// One byte over one byte, the usual progress bar.
		n := copy(under, p)
		l.cur += n
		l.append(p[n:], true)
		return
	}
	for len(p) > 0 {
		_, size := utf8.DecodeRune(p)
		l.put(p[:size])
		l.shorten()
		p = p[size:]
	}
}

// put writes one character over the one at the cursor.
func (l *line) put(char []byte) {
	old := 0
	if l.cur < len(l.buf) {
		_, old = utf8.DecodeRune(l.buf[l.cur:])
	}
	if old == len(char) {
		copy(l.buf[l.cur:], char)
	} else {
		end := len(l.buf)
		l.buf = append(l.buf, char...) // for the room
		copy(l.buf[l.cur+len(char):], l.buf[l.cur+old:end])
		copy(l.buf[l.cur:], char)
		l.buf = l.buf[:end-old+len(char)]
	}
	l.cur += len(char)
}

// shorten moves the beginning of a line over maxLive out.
func (l *line) shorten() {
	if len(l.buf) <= maxLive {
		return
	}
	cut := runeStart(l.buf, len(l.buf)-keepLive)
	l.settle(l.buf[:cut])
	l.buf = append(l.buf[:0], l.buf[cut:]...)
	l.cur = max(0, l.cur-cut)
	l.version++
}
