package limits

// This file keeps the beginning of the settled text.

import "bytes"

// head is the settled text of a view that keeps the beginning: it grows to the bound and
// then stays as it is, but for what a terminal's screen takes back.
//
//	[ shown | beyond the bound | not kept ]
//	        ^ kept             ^ maxBytes + reach         end
//
// The text beyond the bound is there to be taken back. Once there is more than reach of it,
// nothing can change what is shown.
type head struct {
	maxBytes, maxLines, reach int

	buf      []byte   // the beginning, up to maxBytes and reach
	kept     position // the end of what is shown
	end      position // the end of everything
	furthest int64    // the furthest end there has been, bytes
	unended  bool     // the text ends inside a line
	// lineEnd is where the line ends that the end of buf lies in, bytes; 0 while it has not.
	lineEnd int64
}

func (h *head) open() bool      { return h.unended }
func (h *head) ended() position { return h.end }

// whole reports that buf has all the text.
func (h *head) whole() bool { return h.end.bytes == int64(len(h.buf)) }

func (h *head) append(p []byte, c counts) {
	if len(p) == 0 {
		return
	}
	rest := p
	if h.whole() {
		taken := p[:runeEnd(p, h.maxBytes+h.reach-len(h.buf))]
		dropped := h.kept.bytes < h.end.bytes
		h.buf = append(h.buf, taken...)
		if !dropped {
			h.keep()
		}
		rest = p[len(taken):]
	}
	if i := bytes.IndexByte(rest, '\n'); i >= 0 && h.lineEnd == 0 {
		h.lineEnd = h.end.bytes + int64(len(p)-len(rest)+i) + 1
	}
	h.end.bytes += int64(len(p))
	h.end.units += int64(c.units)
	h.end.lines += int64(c.newlines)
	h.furthest = max(h.furthest, h.end.bytes)
	h.unended = p[len(p)-1] != '\n'
}

// keep moves kept on over what of buf fits.
func (h *head) keep() {
	p := h.buf[h.kept.bytes:]
	h.kept = h.kept.after(p[:h.room(p, h.kept)])
}

// room returns how many bytes of p fit both limits after a position, on a character boundary.
func (h *head) room(p []byte, at position) int {
	n := 0
	for lines := at.lines; n < len(p) && lines < int64(h.maxLines); lines++ {
		i := bytes.IndexByte(p[n:], '\n') + 1
		if i == 0 {
			n = len(p)
			break
		}
		n += i
	}
	return runeEnd(p, min(n, h.maxBytes-int(at.bytes)))
}

func (h *head) recent(reach int) ([]byte, bool) {
	from := max(0, h.furthest-int64(reach))
	if !h.whole() || from >= h.end.bytes {
		return nil, from == 0 && h.end.bytes == 0
	}
	return h.buf[runeStart(h.buf, int(from)):], from == 0
}

func (h *head) rewind(n int) {
	h.end = h.end.before(h.buf[len(h.buf)-n:])
	h.buf = h.buf[:len(h.buf)-n]
	h.unended = len(h.buf) > 0 && h.buf[len(h.buf)-1] != '\n'
	h.kept = position{}
	h.keep()
}

// full reports that nothing that is appended can change what is shown.
func (h *head) full() bool { return h.kept.bytes < h.end.bytes }

func (h *head) view(live []byte) extent {
	e := extent{end: h.kept, text: h.buf[:h.kept.bytes]}
	if !h.full() {
		e.live = live[:h.room(live, h.kept)]
	}
	shown := e.lines()
	e.drops = h.full() || len(e.live) < len(live)
	ended := len(e.text) == 0 || e.text[len(e.text)-1] == '\n'
	if len(e.live) > 0 {
		ended = e.live[len(e.live)-1] == '\n'
	}
	if e.drops && (!ended || shown == 0) {
		e.cut = !ended
		e.headless = shown <= 1
		e.cutBytes = h.lineSize(&e, live)
	}
	return e
}

// lineSize is the full size of the line that a view ends in.
func (h *head) lineSize(e *extent, live []byte) int64 {
	shown := len(e.text) + len(e.live)
	begin := int64(bytes.LastIndexByte(e.text, '\n') + 1)
	if i := bytes.LastIndexByte(e.live, '\n'); i >= 0 {
		begin = int64(len(e.text) + i + 1)
	}
	if i := bytes.IndexByte(h.buf[min(shown, len(h.buf)):], '\n'); i >= 0 {
		return int64(shown+i+1) - begin
	}
	if !h.whole() {
		if h.lineEnd > 0 {
			return h.lineEnd - begin
		}
		return h.end.bytes + int64(liveLine(live)) - begin
	}
	if over := shown - len(h.buf); over > 0 {
		return int64(shown+liveLine(live[over:])) - begin
	}
	return h.end.bytes + int64(liveLine(live)) - begin
}

// liveLine is the size of the rest of a line that p begins inside of.
func liveLine(p []byte) int {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return i + 1
	}
	return len(p)
}

func (h *head) final() {
	h.buf = append([]byte(nil), h.buf...)
}
