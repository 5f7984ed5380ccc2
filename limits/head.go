package limits

// This file keeps the beginning of the settled text.

import "bytes"

// head is the settled text of a view that keeps the beginning: it grows to the bound and
// then stays as it is.
type head struct {
	maxBytes, maxLines int

	buf     []byte
	kept    position // the end of buf
	end     position // the end of everything
	dropped bool     // something came that buf did not take; buf is final
	// lineStart is where the last line begins, in bytes, while nothing is dropped; then
	// it is where the line begins that the cut lies in.
	lineStart int64
	cut       bool  // the cut lies inside a line
	cutEnd    int64 // where that line ends, 0 while it has not
}

func (h *head) append(p []byte, c counts) {
	if !h.dropped {
		h.take(p)
	} else if h.cut && h.cutEnd == 0 {
		h.findCutEnd(p)
	}
	h.end.bytes += int64(len(p))
	h.end.units += int64(c.units)
	h.end.lines += int64(c.newlines)
}

// take appends what still fits of p.
func (h *head) take(p []byte) {
	n := h.room(p)
	taken := p[:n]
	if i := bytes.LastIndexByte(taken, '\n'); i >= 0 {
		h.lineStart = h.end.bytes + int64(i) + 1
	}
	h.buf = append(h.buf, taken...)
	h.kept = h.kept.after(taken)
	if n < len(p) {
		h.dropped = true
		h.cut = h.lineStart < h.kept.bytes || h.kept.bytes == 0
		if h.cut {
			h.end.bytes += int64(n)
			h.findCutEnd(p[n:])
			h.end.bytes -= int64(n)
		}
	}
}

// room returns how many bytes of p fit both limits, on a character boundary.
func (h *head) room(p []byte) int {
	n := 0
	for lines := h.kept.lines; n < len(p) && lines < int64(h.maxLines); lines++ {
		i := bytes.IndexByte(p[n:], '\n') + 1
		if i == 0 {
			n = len(p)
			break
		}
		n += i
	}
	return runeEnd(p, min(n, h.maxBytes-len(h.buf)))
}

// findCutEnd looks for the end of the cut line in p, which begins at h.end.
func (h *head) findCutEnd(p []byte) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		h.cutEnd = h.end.bytes + int64(i) + 1
	}
}

func (h *head) drops(live int) bool {
	return h.dropped || live > 0 &&
		(len(h.buf)+live > h.maxBytes || h.kept.lines >= int64(h.maxLines))
}

func (h *head) view(live []byte) extent {
	e := extent{end: h.kept, text: h.buf, drops: h.drops(len(live))}
	if h.dropped {
		if h.cut {
			e.cutBytes = h.cutEnd - h.lineStart
			if h.cutEnd == 0 {
				e.cutBytes = h.end.bytes + int64(len(live)) - h.lineStart
			}
		}
		e.cut = h.cut && len(h.buf) > 0
		e.headless = h.cut && h.kept.lines == 0
		return e
	}
	e.live = live[:h.room(live)]
	if len(e.live) < len(live) && h.kept.lines < int64(h.maxLines) {
		e.cut = h.lineStart < h.kept.bytes || len(e.live) > 0
		e.cutBytes = h.end.bytes + int64(len(live)) - h.lineStart
		e.headless = h.kept.lines == 0
	}
	return e
}

func (h *head) final() {
	h.buf = append([]byte(nil), h.buf...)
}
