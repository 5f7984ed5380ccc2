package limits

// This file puts text on the screen: at its end as a rule, over what is there otherwise.

import "bytes"

// print puts text at the cursor. c counts p.
func (s *screen) print(p []byte, c counts) {
	s.touched = true
	for len(p) > 0 && !s.flowing() {
		n := 1
		if p[0] == '\n' {
			s.newline()
			c.newlines--
		} else {
			n = s.write(p)
		}
		if c.units < len(p) {
			c.units -= units16(p[:n])
		} else {
			c.units -= n
		}
		p = p[n:]
	}
	if len(p) > 0 {
		s.flow(p, c)
	}
}

// flow appends text to the only row, which the cursor is at the end of.
func (s *screen) flow(p []byte, c counts) {
	r := &s.lines[0]
	if c.newlines > 0 {
		end := bytes.LastIndexByte(p, '\n') + 1
		s.settleText(r.buf)
		units := end
		if c.units < len(p) {
			units = units16(p[:end])
		}
		s.text.append(p[:end], counts{units, c.newlines})
		s.clearRow()
		p = p[end:]
	}
	for len(p) >= longRun {
		n := s.fill(p)
		if n == 0 {
			n = runeEnd(p, maxLoose)
			s.loosen(p[:n])
		}
		p = p[n:]
	}
	s.loosen(p)
}

// longRun is how much text without a newline is worth a look whether it takes a cell a byte.
const longRun = 1024

// fill appends the beginning of p as far as it takes a cell a byte, by arithmetic, and returns
// how much that was. It may be nothing.
func (s *screen) fill(p []byte) int {
	s.measure()
	r := &s.lines[0]
	n := cellRun(p)
	// The cells of the rows that n completes, from the beginning of this one.
	rows := max(0, s.x+n-1) / s.columns * s.columns
	if r.ragged || n < longRun || rows < s.x {
		return 0
	}
	if rows > 0 {
		s.settleText(r.buf)
		s.text.append(p[:rows-s.x], counts{units: rows - s.x})
		r.buf = r.buf[:0]
		s.version++
	}
	r.buf = append(r.buf, p[max(0, rows-s.x):n]...)
	s.x += n - rows
	r.width = s.x
	return n
}

// loosen appends at most maxLoose bytes without newlines, unmeasured unless they are many.
func (s *screen) loosen(p []byte) {
	r := &s.lines[0]
	r.buf = append(r.buf, p...)
	s.loose += len(p)
	if len(r.buf) > maxLoose {
		s.measure()
	}
}

// clearRow begins a new only row, once the old one has settled.
func (s *screen) clearRow() {
	s.lines[0] = row{buf: s.lines[0].buf[:0]}
	s.x, s.loose = 0, 0
	s.version++
}

// newline goes to the beginning of the next line.
func (s *screen) newline() {
	s.measure()
	if !s.placed {
		s.settleText(s.lines[0].buf)
		s.text.append(newline, counts{1, 1})
		s.clearRow()
		return
	}
	s.x = 0
	bottom := s.y >= s.top+len(s.lines)-1
	s.down(false)
	s.row()
	if s.quiet++; !bottom || s.marginTop > 0 || s.marginBottom < s.rows-1 {
		s.quiet = 0
	}
	if (!s.drawn || s.quiet >= s.rows) && s.printed() {
		s.release()
	}
}

// down moves the cursor a row down, scrolling at the end of the region. wrap says that the line
// goes on there.
func (s *screen) down(wrap bool) {
	if i := s.y - s.top; wrap && i < len(s.lines) {
		s.lines[i].wrapped, s.lines[i].full = true, max(s.lines[i].width, s.x)
	}
	s.edited()
	s.bound()
	switch {
	case s.y == s.marginBottom:
		s.scrollUp()
	case s.y < s.rows-1:
		s.y++
	}
}

// wrap goes to the next row in the middle of a line.
func (s *screen) wrap() {
	s.locate()
	s.down(true)
	s.x = 0
	s.row()
}

// write puts text at the cursor, one character over another, up to a newline or until it flows again.
// It returns how much that was, of text that does not begin with a newline.
func (s *screen) write(p []byte) int {
	s.measure()
	s.edited()
	n := 0
	for n < len(p) && p[n] != '\n' {
		size := s.overwrite(p[n:])
		if size == 0 {
			size = s.extend(p[n:])
		}
		if size == 0 {
			size = s.char(p[n:])
		}
		n += size
		if s.flowing() {
			break
		}
	}
	return n
}

// overwrite puts the beginning of p as far as it takes a cell a byte on a row where all does, which
// is what most programs that redraw need, and returns how much that was.
func (s *screen) overwrite(p []byte) int {
	r := s.row()
	if r.ragged || s.inserting || s.noWrap || s.x > r.width {
		return 0
	}
	p = p[:min(len(p), s.columns-s.x)]
	if end := bytes.IndexByte(p, '\n'); end >= 0 {
		p = p[:end]
	}
	p = p[:cellRun(p)]
	over := copy(r.buf[s.x:], p)
	r.buf = append(r.buf, p[over:]...)
	s.x += len(p)
	r.width = max(r.width, s.x)
	return len(p)
}

// extend appends the beginning of p, up to a newline, as far as the cursor's row takes it, when the
// cursor is at its end, and returns how much that was.
func (s *screen) extend(p []byte) int {
	r := s.row()
	if s.inserting || s.noWrap || s.x != r.width {
		return 0
	}
	p = p[:runeEnd(p, maxRow)]
	if end := bytes.IndexByte(p, '\n'); end >= 0 {
		p = p[:end]
	}
	n, cells := rowEnd(p, len(r.buf), s.x, s.columns)
	r.buf = append(r.buf, p[:n]...)
	r.ragged = r.ragged || cellRun(p[:n]) < n
	s.x, r.width = cells, cells
	return n
}

// char puts the character that p begins with at the cursor and returns its size.
func (s *screen) char(p []byte) int {
	r := s.row()
	size, cells := charAt(p, s.x, s.columns)
	switch {
	case s.x >= r.width:
	case p[0] == '\t':
		s.x += cells // over what is there
		return size
	case cells == 0:
		r.combine(s.x, p[:size], s.columns)
		return size
	}
	if s.x+cells > s.columns || s.x == r.width && len(r.buf)+size > rowBytes(s.columns) {
		if s.noWrap {
			return size
		}
		s.wrap()
		r = s.row()
		_, cells = charAt(p, 0, s.columns)
	}
	if p[0] == '\t' && cells == 0 && s.x > r.width {
		return size
	}
	if s.inserting {
		r.insert(s.x, cells, s.columns)
	}
	r.put(s.x, p[:size], cells, s.columns)
	s.x += cells
	if s.noWrap && cells > 0 {
		s.x = min(s.x, s.columns-1)
	}
	return size
}
