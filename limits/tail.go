package limits

// This file keeps the end of the settled text: the last whole lines that fit.

import "bytes"

// tail is the settled text of a view that keeps the end.
//
//	[ evicted | retained ][ lines that can change ]        evicted + retained = end
//	          ^ start     ^ end
//
// Eviction is lazy: retained holds what a view can need, even when as much as reach is taken
// back, and up to maxBytes more. Each byte is copied into the buffer once, moved about once, and
// looked at once more when evicted.
type tail struct {
	maxBytes, maxLines, reach int

	buf       []byte
	head      int // buf[head:] is retained
	start     position
	uncounted bool  // start.lines has to be counted
	startLine int64 // where the line begins that start lies in, bytes
	end       position
	furthest  int64 // the furthest end there has been, bytes
	unended   bool  // the last line has no newline yet
	lastLine  int64 // where the last line begins, bytes
	// shown is where the last view began. It never goes back while the output grows: an
	// unfinished line that becomes shorter leaves room, but refilling it would mean
	// sending the text again. When text is taken back, and in the final view, it starts
	// over.
	shown cutPosition
}

// cutPosition is a position that may lie inside a line, or even a character.
type cutPosition struct {
	position
	cut bool
}

func (t *tail) open() bool      { return t.unended }
func (t *tail) ended() position { return t.end }

func (t *tail) append(p []byte, c counts) {
	if len(p) == 0 {
		return
	}
	after := position{
		bytes: t.end.bytes + int64(len(p)),
		units: t.end.units + int64(c.units),
		lines: t.end.lines + int64(c.newlines),
	}
	lastLine := t.lastLineAfter(p, c)
	if skip := len(p) - t.maxBytes - t.reach; skip >= 0 {
		t.replace(p, skip, c.units == len(p), after)
	} else {
		t.reserve(len(p))
		t.buf = append(t.buf, p...)
	}
	t.lastLine = lastLine
	t.end = after
	t.furthest = max(t.furthest, after.bytes)
	t.unended = p[len(p)-1] != '\n'
}

// replace keeps nothing but p[skip:], which ends at end.
func (t *tail) replace(p []byte, skip int, ascii bool, end position) {
	kept := p[skip:]
	units := len(kept)
	if !ascii {
		units = units16(kept)
	}
	if i := lastNewline(p[:skip]); i >= 0 {
		t.startLine = t.end.bytes + int64(i) + 1
	} else if !t.unended {
		t.startLine = t.end.bytes
	} else {
		t.startLine = t.lastLine
	}
	t.start = position{
		bytes: end.bytes - int64(len(kept)),
		units: end.units - int64(units),
	}
	t.uncounted = true // a flood replaces again before anybody looks
	t.head = 0
	t.buf = append(t.buf[:0], kept...)
}

// count counts the lines before start, if that has been put off.
func (t *tail) count() {
	if t.uncounted {
		t.start.lines = t.end.lines - int64(bytes.Count(t.buf[t.head:], newline))
		t.uncounted = false
	}
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
	case t.unended:
		return t.lastLine
	}
	return t.end.bytes
}

// reserve makes room for n more bytes, fewer than maxBytes and reach together.
func (t *tail) reserve(n int) {
	if len(t.buf)+n <= cap(t.buf) {
		return
	}
	t.evict(n)
	kept := len(t.buf) - t.head
	// Moving what is kept has to pay for itself: below the full size, more than half kept
	// means growing instead.
	full := 2*t.maxBytes + t.reach
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

// evict drops what no later view can need once n more bytes are there.
func (t *tail) evict(n int) {
	t.count()
	earliest := max(t.furthest, t.end.bytes+int64(n)) - int64(t.maxBytes+t.reach)
	retained := t.buf[t.head:]
	drop := runeStart(retained, int(max(0, min(earliest, t.end.bytes)-t.start.bytes)))
	if i := lastNewline(retained[:drop]); i >= 0 {
		t.startLine = t.start.bytes + int64(i) + 1
	}
	t.start = t.advance(t.start, drop)
	t.head += drop
}

// lastNewline is bytes.LastIndexByte, fast too where there is none.
func lastNewline(p []byte) int {
	if bytes.IndexByte(p, '\n') < 0 {
		return -1
	}
	return bytes.LastIndexByte(p, '\n')
}

func (t *tail) recent(reach int) ([]byte, bool) {
	from := max(0, t.furthest-int64(reach))
	if from >= t.end.bytes {
		return nil, from == 0
	}
	p := t.from(max(from, t.start.bytes))
	return p[runeStart(p, 0):], from == 0
}

func (t *tail) rewind(n int) {
	kept := t.buf[t.head : len(t.buf)-n]
	t.end = t.end.before(t.buf[len(t.buf)-n:])
	t.buf = t.buf[:len(t.buf)-n]
	t.unended, t.lastLine = t.startLine < t.start.bytes, t.startLine
	if len(kept) > 0 {
		t.unended = kept[len(kept)-1] != '\n'
		if i := lineStart(kept, len(kept)); i > 0 {
			t.lastLine = t.start.bytes + int64(i)
		}
	}
	t.shown = cutPosition{}
}

// from is the retained text from an absolute position on.
func (t *tail) from(at int64) []byte {
	return t.buf[len(t.buf)-int(t.end.bytes-at):]
}

// fit returns the first position at or after from where a view with these lines after the text
// may begin: the beginning of a line, or, when the last line alone is too long, as much of its
// end as fits. When that is beyond the text, liveStart says where in the lines.
func (t *tail) fit(from cutPosition, live []byte) (at cutPosition, liveStart int) {
	t.count()
	if from.bytes < t.start.bytes {
		from = cutPosition{t.start, t.startLine < t.start.bytes}
	}
	earliest := t.end.bytes + int64(len(live)-t.maxBytes)
	if from.cut || from.bytes < earliest {
		earliest = max(earliest, from.bytes)
		if t.lastLineWith(live) < earliest {
			return t.cutAt(from.position, earliest, live)
		}
		rest := t.from(from.bytes)
		skip := int(min(earliest, t.end.bytes) - from.bytes)
		liveStart = int(max(0, earliest-t.end.bytes))
		inside := from.cut // the place is not the beginning of a line
		if liveStart > 0 {
			inside = live[liveStart-1] != '\n'
		} else if skip > 0 {
			inside = rest[skip-1] != '\n'
		}
		if inside {
			skip, liveStart = nextLine(rest, skip, live, liveStart)
		}
		from = cutPosition{position: t.advance(from.position, skip)}
	}
	return t.fitLines(from, live, liveStart)
}

// fitLines moves a beginning on until the view has no more than maxLines.
func (t *tail) fitLines(from cutPosition, live []byte, liveStart int) (cutPosition, int) {
	extra := linesAfter(t.end, t.unended, sizeOf(live)) - from.lines -
		int64(bytes.Count(live[:liveStart], newline)) - int64(t.maxLines)
	rest := t.from(from.bytes)
	skip := 0
	for ; extra > 0; extra-- {
		skip, liveStart = nextLine(rest, skip, live, liveStart)
	}
	from.position = t.advance(from.position, skip)
	return from, liveStart
}

// nextLine returns where the next line begins, in rest after skip, or else in the lines after the
// text.
func nextLine(rest []byte, skip int, live []byte, liveStart int) (int, int) {
	if i := bytes.IndexByte(rest[skip:], '\n'); i >= 0 {
		return skip + i + 1, liveStart
	}
	return len(rest), liveStart + bytes.IndexByte(live[liveStart:], '\n') + 1
}

// lastLineWith is where the last line begins with these lines after the text.
func (t *tail) lastLineWith(live []byte) int64 {
	switch {
	case len(live) == 0:
		return t.lastLine
	case bytes.IndexByte(live[:len(live)-1], '\n') >= 0:
		return t.end.bytes + int64(lineStart(live, len(live)))
	case t.unended:
		return t.lastLine
	}
	return t.end.bytes
}

// cutAt begins a view inside the last line.
func (t *tail) cutAt(from position, earliest int64, live []byte) (cutPosition, int) {
	if over := int(earliest - t.end.bytes); over > 0 {
		return cutPosition{t.advance(from, int(t.end.bytes-from.bytes)), true}, runeStart(live, over)
	}
	skip := runeStart(t.from(from.bytes), int(earliest-from.bytes))
	return cutPosition{t.advance(from, skip), true}, 0
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
	liveStart := 0
	t.shown, liveStart = t.fit(t.shown, live)
	cut := t.shown.cut
	if liveStart > 0 {
		cut = live[liveStart-1] != '\n'
		t.shown.cut = t.unended
	}
	e := extent{
		start:     t.shown.position,
		end:       t.end,
		text:      t.from(t.shown.bytes),
		live:      live[liveStart:],
		liveStart: liveStart,
		skipped:   int64(bytes.Count(live[:liveStart], newline)),
		drops:     t.shown.bytes > 0 || liveStart > 0,
		cut:       cut,
	}
	if e.cut {
		e.cutBytes = t.end.bytes + int64(len(live)) - t.lastLineWith(live)
	}
	return e
}

func (t *tail) final() {
	t.shown = cutPosition{}
	e := t.view(nil)
	t.start, t.startLine = e.start, t.lastLine
	if !e.cut {
		t.startLine = e.start.bytes
	}
	t.buf = append([]byte(nil), e.text...)
	t.head = 0
}
