package limits

// This file keeps the end of the settled text: the last whole lines that fit.

import "bytes"

// tail is the settled text of a view that keeps the end.
//
//	[ evicted | retained ][ unfinished line ]        evicted + retained = end
//	          ^ start     ^ end
//
// Eviction is lazy: retained may hold up to twice maxBytes, until space is needed or a view
// is asked for. Each byte is copied into the buffer once, moved at most once, and looked at
// once more when evicted.
type tail struct {
	maxBytes, maxLines int

	buf      []byte
	head     int // buf[head:] is retained
	start    cutPosition
	end      position
	open     bool  // the last line has no newline yet
	lastLine int64 // where the last line begins, bytes
	// shown is where the last view began. It never goes back while the output grows: an
	// unfinished line that becomes shorter leaves room, but refilling it would mean
	// sending the text again. The final view starts over.
	shown cutPosition
}

// cutPosition is a position that may lie inside a line, or even a character.
type cutPosition struct {
	position
	cut bool
}

func (t *tail) append(p []byte, c counts) {
	if len(p) == 0 {
		return
	}
	after := position{
		bytes: t.end.bytes + int64(len(p)),
		units: t.end.units + int64(c.units),
		lines: t.end.lines + int64(c.newlines),
	}
	if skip := len(p) - t.maxBytes; skip >= 0 {
		t.replace(p, skip, c.units == len(p), after)
	} else {
		t.reserve(len(p))
		t.buf = append(t.buf, p...)
	}
	t.lastLine = t.lastLineAfter(p, c)
	t.end = after
	t.open = p[len(p)-1] != '\n'
}

// replace keeps nothing but p[skip:], which ends at end.
func (t *tail) replace(p []byte, skip int, ascii bool, end position) {
	kept := p[skip:]
	units := len(kept)
	if !ascii {
		units = units16(kept)
	}
	t.start.position = position{
		bytes: end.bytes - int64(len(kept)),
		units: end.units - int64(units),
		lines: end.lines - int64(bytes.Count(kept, newline)),
	}
	t.start.cut = t.open
	if skip > 0 {
		t.start.cut = p[skip-1] != '\n'
	}
	t.head = 0
	t.buf = append(t.buf[:0], kept...)
}

// lastLineAfter is where the last line begins once p is appended.
func (t *tail) lastLineAfter(p []byte, c counts) int64 {
	body, inner := p, c.newlines
	if p[len(p)-1] == '\n' {
		body = p[:len(p)-1]
		inner--
	}
	switch {
	case inner > 0:
		return t.end.bytes + int64(bytes.LastIndexByte(body, '\n')) + 1
	case t.open:
		return t.lastLine
	}
	return t.end.bytes
}

// reserve makes room for n more bytes, n < maxBytes, without growing past twice maxBytes.
func (t *tail) reserve(n int) {
	if len(t.buf)+n <= cap(t.buf) {
		return
	}
	t.evict()
	kept := len(t.buf) - t.head
	// Moving what is kept has to pay for itself: below the full size, more than half kept
	// means growing instead.
	full := 2 * t.maxBytes
	if kept+n > cap(t.buf) || kept > cap(t.buf)/2 && cap(t.buf) < full {
		grown := make([]byte, kept, min(full, max(2*(kept+n), 512)))
		copy(grown, t.buf[t.head:])
		t.buf = grown
	} else {
		copy(t.buf, t.buf[t.head:])
		t.buf = t.buf[:kept]
	}
	t.head = 0
}

// evict drops what no later view can need.
func (t *tail) evict() {
	t.start = t.fit(t.start, 0)
	t.head = len(t.buf) - int(t.end.bytes-t.start.bytes)
}

// from is the retained text from an absolute position on.
func (t *tail) from(at int64) []byte {
	return t.buf[len(t.buf)-int(t.end.bytes-at):]
}

func (t *tail) drops(live int) bool {
	return t.start.bytes > 0 || t.end.bytes+int64(live) > int64(t.maxBytes) ||
		t.linesFrom(t.start.position, live) > int64(t.maxLines)
}

func (t *tail) linesFrom(at position, live int) int64 {
	n := t.end.lines - at.lines
	if t.open || live > 0 {
		n++
	}
	return n
}

// fit returns the first position at or after from where a view with live bytes of unfinished
// line may begin: the beginning of a line, or, when the last line alone is too long, as much
// of its end as fits.
func (t *tail) fit(from cutPosition, live int) cutPosition {
	earliest := t.end.bytes + int64(live) - int64(t.maxBytes)
	if from.cut || from.bytes < earliest {
		from = t.nextLine(from, max(earliest, from.bytes), live)
	}
	if from.cut {
		return from
	}
	rest := t.from(from.bytes)
	skip := 0
	for extra := t.linesFrom(from.position, live) - int64(t.maxLines); extra > 0; extra-- {
		skip += bytes.IndexByte(rest[skip:], '\n') + 1
	}
	from.position = t.advance(from.position, skip)
	return from
}

// nextLine returns the first beginning of a line at or after earliest, or a cut.
func (t *tail) nextLine(from cutPosition, earliest int64, live int) cutPosition {
	lastLine := t.lastLine
	if !t.open && live > 0 {
		lastLine = t.end.bytes
	}
	rest := t.from(from.bytes)
	skip := int(min(earliest, t.end.bytes) - from.bytes)
	if lastLine < earliest {
		skip = runeStart(rest, skip)
		return cutPosition{t.advance(from.position, skip), true}
	}
	if skip == 0 && from.cut || skip > 0 && rest[skip-1] != '\n' {
		skip += bytes.IndexByte(rest[skip:], '\n') + 1
	}
	return cutPosition{t.advance(from.position, skip), false}
}

// advance is from.after for the next n retained bytes; it does not look at ASCII twice.
func (t *tail) advance(from position, n int) position {
	passed := t.from(from.bytes)[:n]
	if t.end.units-from.units == t.end.bytes-from.bytes {
		from.bytes += int64(n)
		from.units += int64(n)
		from.lines += int64(bytes.Count(passed, newline))
		return from
	}
	return from.after(passed)
}

func (t *tail) view(live []byte) extent {
	t.evict()
	if t.shown.bytes < t.start.bytes {
		t.shown = t.start
	}
	t.shown = t.fit(t.shown, len(live))
	e := extent{
		start: t.shown.position,
		end:   t.end,
		text:  t.from(t.shown.bytes),
		live:  live,
		drops: t.shown.bytes > 0,
		cut:   t.shown.cut,
	}
	if over := len(live) - t.maxBytes; over > 0 {
		e.liveStart = runeStart(live, over)
		e.live = live[e.liveStart:]
		e.drops = true
	}
	if e.cut {
		lastLine := t.lastLine
		if !t.open && len(live) > 0 {
			lastLine = t.end.bytes
		}
		e.cutBytes = t.end.bytes + int64(len(live)) - lastLine
	}
	return e
}

func (t *tail) final() {
	t.evict()
	t.shown = t.start
	t.buf = append([]byte(nil), t.buf[t.head:]...)
	t.head = 0
}
