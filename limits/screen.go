package limits

// This file is the part of a terminal's screen that can still change, and the cursor in it.

const (
	// defaultRows is the height of a screen when none is given.
	defaultRows = 50
	// maxLoose is how much text is not looked at until it is more, bytes.
	maxLoose = 4096
	// rowOverhead is what an empty row counts in the bound on a screen's memory, bytes.
	rowOverhead = 48
)

// screen is the bottom of a terminal's screen: the rows that have been touched by more than
// printing at the end, or follow such a row.
//
//	text:  [ scrolled off | rows on the screen ]
//	                      ^ floor              ^ top = lines[0], lines[1], …
//
// Nearly always that is one row, the unfinished one, and text flows through it: where on the
// screen it is nobody asks. A cursor that moves up asks: then the screen is placed, and the rows
// it moves to are taken back out of the text. They settle when they scroll off, or when nothing
// but text has come for a screenful.
//
// The screen's content is a function of the bytes alone.
type screen struct {
	text          settled
	columns, rows int // 1 to maxColumns columns; at least 1 row
	reach         int // bounds lines in bytes

	lines []row // at least one
	x     int   // the cursor's cell; columns after the last one was written
	// loose is how many bytes at the end of the only row have not been measured yet. The
	// cursor is at the end then, and x short by their cells.
	loose int

	// The rest is meaningful only while placed is set. Rows count from the top of the screen.
	placed bool
	y      int // the cursor's row, at least top; below the last of lines there is nothing yet
	top    int // the row that lines[0] is
	floor  int // the first row not out of reach, at most top; unknown until lowest is asked
	quiet  int // newlines at the bottom since anything else happened
	// drawn says that the cursor may have been elsewhere than in the last row.
	drawn bool

	marginTop, marginBottom int // the scrolling region, inclusive
	saved                   savedCursor
	noWrap, inserting       bool

	// version changes whenever the lines do other than grow at their end.
	version uint64
	// epoch counts how often text was taken back.
	epoch uint64
	// touched says that something to be seen may have changed; its reader clears it.
	touched bool
}

type savedCursor struct{ x, y int }

// resize makes an empty screen of this size, or gives this one another size: what is on it
// settles but the row of the cursor.
func (s *screen) resize(columns, rows int) {
	if len(s.lines) > 0 {
		s.measure()
		s.release()
	} else {
		s.lines = make([]row, 1)
	}
	if columns < 1 || columns > maxColumns {
		columns = maxColumns
	}
	if rows < 1 {
		rows = defaultRows
	}
	s.columns, s.rows = columns, rows
	s.x = min(s.x, columns)
	s.marginTop, s.marginBottom = 0, rows-1
}

// release settles all rows but the last, where the cursor goes on at the end, and lets text flow.
func (s *screen) release() {
	last := len(s.lines) - 1
	for i := range last {
		s.settleRow(&s.lines[i])
	}
	s.lines = append([]row(nil), s.lines[last])
	if s.placed && s.y != s.top+last {
		s.x = s.lines[0].width
	}
	s.placed, s.quiet, s.drawn = false, 0, false
	s.version++
}

// finish settles everything.
func (s *screen) finish() {
	s.measure()
	s.release()
	s.settleText(s.lines[0].buf)
	s.lines = make([]row, 1)
	s.x = 0
}

// flowing reports that printing appends, and needs no look at the screen.
func (s *screen) flowing() bool {
	return !s.placed && !s.noWrap && !s.inserting && (s.loose > 0 || s.x == s.lines[0].width)
}

// settleText moves text without newlines into the settled text.
func (s *screen) settleText(p []byte) {
	if len(p) > 0 {
		s.text.append(p, counts{units: units16(p)})
	}
}

// settleRow moves a row into the settled text.
func (s *screen) settleRow(r *row) {
	s.settleText(r.buf)
	if r.wrapped {
		s.settleText(blanks(r.gap()))
	} else {
		s.text.append(newline, counts{1, 1})
	}
}

// live appends the text of the lines to dst.
func (s *screen) live(dst []byte) []byte {
	last := len(s.lines) - 1
	for i := range last {
		r := &s.lines[i]
		dst = append(dst, r.buf...)
		if r.wrapped {
			dst = append(dst, blanks(r.gap())...)
		} else {
			dst = append(dst, '\n')
		}
	}
	return append(dst, s.lines[last].buf...)
}

// size says how much live would append.
func (s *screen) size() size {
	last := len(s.lines) - 1
	var n size
	for i := range last {
		r := &s.lines[i]
		if n.bytes += len(r.buf); r.wrapped {
			n.bytes += r.gap()
		} else {
			n.bytes++
			n.newlines++
		}
	}
	rest := len(s.lines[last].buf)
	n.bytes += rest
	n.open = n.bytes > 0 && (rest > 0 || s.lines[last-1].wrapped)
	return n
}

// measure takes account of loose text: rows that are complete move into the settled text.
func (s *screen) measure() {
	if s.loose == 0 {
		return
	}
	r := &s.lines[0]
	from := len(r.buf) - s.loose
	row := 0 // where the row begins in buf
	for {
		n, cells := rowEnd(r.buf[from:], from-row, s.x, s.columns)
		s.x = min(cells, s.columns)
		from += n
		if from == len(r.buf) {
			break
		}
		row, s.x = from, 0
	}
	s.loose = 0
	if row > 0 {
		s.settleText(r.buf[:row])
		r.buf = append(r.buf[:0], r.buf[row:]...)
		s.version++
	}
	if r.width = s.x; cellRun(r.buf) < len(r.buf) {
		r.ragged = true
	} else {
		r.ragged = false
	}
}

// edited says that the lines were changed.
func (s *screen) edited() {
	s.version++
	s.touched = true
}

// row returns the cursor's row, to be changed; it is made if there is none yet. When it goes on
// with the line above, that is taken back too: where a line was broken can be seen from its text
// only while nothing but printing made it.
func (s *screen) row() *row {
	if !s.placed && s.text.open() {
		s.locate()
		s.pull(s.y - 1)
	}
	if !s.placed {
		return &s.lines[0]
	}
	for len(s.lines) <= s.y-s.top {
		s.lines = append(s.lines, row{})
	}
	return &s.lines[s.y-s.top]
}

// ready is called before anything but printing is done: it finds out where the cursor is, and
// keeps what can change within bounds.
func (s *screen) ready() {
	s.measure()
	s.bound()
}

// bound settles rows until what can still change is within reach again.
func (s *screen) bound() {
	if !s.placed {
		return
	}
	size := 0
	for i := range s.lines {
		size += len(s.lines[i].buf) + rowOverhead
	}
	for len(s.lines) > 1 && size > s.reach {
		size -= len(s.lines[0].buf) + rowOverhead
		s.dropTop()
		s.top++
		s.floor = s.top
		s.y = max(s.y, s.top)
	}
	if cap(s.lines) > 4*len(s.lines)+16 {
		s.lines = append([]row(nil), s.lines...)
	}
}

// dropTop settles the first of at least two lines.
func (s *screen) dropTop() {
	s.settleRow(&s.lines[0])
	copy(s.lines, s.lines[1:])
	last := len(s.lines) - 1
	s.lines[last] = row{}
	s.lines = s.lines[:last]
	s.version++
}
