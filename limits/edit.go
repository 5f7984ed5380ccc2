package limits

// This file is what control sequences do to the screen. Where terminals differ it is as in tmux,
// which the differential test compares with. All of it expects that ready has been called.

import (
	"bytes"
	"slices"
)

// moveTo puts the cursor on the screen's row y and cell x, or as near as there is.
func (s *screen) moveTo(x, y int) {
	s.column(x)
	s.moveRow(y)
}

// moveRow puts the cursor on the screen's row y, in the cell it is in.
func (s *screen) moveRow(y int) {
	s.place()
	s.quiet = 0
	s.y = max(s.floor, min(y, s.rows-1))
	s.pull(s.y)
}

// column puts the cursor on cell x of its row.
func (s *screen) column(x int) {
	s.x = max(0, min(x, s.columns-1))
}

// up moves the cursor n rows up, within the region if it is there.
func (s *screen) up(n int) {
	s.place()
	top := 0
	if s.y >= s.marginTop {
		top = s.marginTop
	}
	s.moveTo(s.x, max(top, s.y-n))
}

// downBy moves the cursor n rows down, within the region if it is there.
func (s *screen) downBy(n int) {
	s.place()
	bottom := s.rows - 1
	if s.y <= s.marginBottom {
		bottom = s.marginBottom
	}
	s.moveTo(s.x, min(bottom, s.y+n))
}

// right moves the cursor n cells, not past the last column.
func (s *screen) right(n int) {
	s.column(s.x + n)
}

// left moves the cursor n cells, not past the first column.
func (s *screen) left(n int) {
	s.column(s.x - n)
}

// backspace moves the cursor one cell back, from the beginning of a row to the end of the one
// that its line began in.
func (s *screen) backspace() {
	switch {
	case s.x > 0:
		s.x--
	case s.continues():
		if s.place(); s.y > s.floor {
			s.moveTo(s.columns-1, s.y-1)
		}
	}
}

// continues reports whether the cursor's row goes on with the line of the one above.
func (s *screen) continues() bool {
	i := s.y - s.top
	if !s.placed || i == 0 {
		return s.text.open()
	}
	return i <= len(s.lines) && s.lines[i-1].wrapped
}

// part ends the line above the cursor's row there.
func (s *screen) part() {
	if !s.continues() {
		return
	}
	if i := s.y - s.top; s.placed && i > 0 {
		s.lines[i-1].wrapped = false
	} else {
		s.text.append(newline, counts{1, 1})
	}
}

// reverse moves the cursor a row up, scrolling at the top of the region.
func (s *screen) reverse() {
	s.place()
	if s.y == s.marginTop {
		s.quiet = 0
		s.insertRows(s.marginTop, 1, s.marginBottom)
		return
	}
	s.moveRow(s.y - 1)
}

// eraseRow blanks cells of the cursor's row.
func (s *screen) eraseRow(from, to int) {
	r := s.row()
	if from == 0 && to >= s.columns {
		s.part()
		r.wrapped = false
	}
	r.erase(from, to, s.columns)
	s.edited()
}

func (s *screen) eraseRight() {
	if s.x < s.columns {
		s.eraseRow(s.x, s.columns)
	}
}

func (s *screen) eraseLeft() {
	s.eraseRow(0, s.x+1)
}

// eraseBelow blanks everything from the cursor on. From the top of the screen the text scrolls
// off instead, so that it is not lost.
func (s *screen) eraseBelow() {
	s.place()
	s.quiet = 0
	if s.x == 0 && s.y == 0 {
		s.clear()
		return
	}
	s.row()
	s.eraseRight()
	i := s.y - s.top
	s.cut(i + 1)
	if s.y < s.rows-1 {
		s.lines[i].wrapped = false
	}
}

// cut drops the lines from the i-th on.
func (s *screen) cut(i int) {
	if i < len(s.lines) {
		clear(s.lines[i:])
		s.lines = s.lines[:i]
	}
}

// eraseAbove blanks everything up to the cursor.
func (s *screen) eraseAbove() {
	s.place()
	s.quiet = 0
	if s.y > s.floor {
		s.pull(s.floor)
		s.row()
		s.unwrap(s.floor)
		for i := range s.y - s.top {
			s.lines[i] = row{}
		}
	}
	s.eraseLeft()
}

// clear lets the text of the screen scroll off and leaves a blank one.
func (s *screen) clear() {
	s.place()
	s.quiet = 0
	if s.blank() {
		s.pull(s.floor)
	}
	last := len(s.lines)
	for last > 0 && len(s.lines[last-1].buf) == 0 {
		last--
	}
	for i := range last {
		if i == last-1 {
			s.lines[i].wrapped = false
		}
		s.settleRow(&s.lines[i])
	}
	if last == 0 && s.text.open() {
		s.text.append(newline, counts{1, 1})
	}
	s.top, s.floor = 0, 0
	s.cut(0)
	s.lines = append(s.lines, row{})
	s.edited()
}

// blank reports whether nothing is on the rows not settled.
func (s *screen) blank() bool {
	return !slices.ContainsFunc(s.lines, func(r row) bool { return len(r.buf) > 0 })
}

// eraseCells blanks n cells from the cursor on.
func (s *screen) eraseCells(n int) {
	if s.x < s.columns {
		s.eraseRow(s.x, min(s.columns, s.x+n))
	}
}

// insertCells moves the rest of the row n cells to the right.
func (s *screen) insertCells(n int) {
	if s.x < s.columns {
		s.row().insert(s.x, n, s.columns)
		s.edited()
	}
}

// deleteCells takes n cells out of the row.
func (s *screen) deleteCells(n int) {
	if s.x >= s.columns {
		return
	}
	if s.x == 0 && n >= s.columns {
		s.eraseRow(0, n)
	}
	s.row().remove(s.x, n, s.columns)
	s.edited()
}

// insertLines moves the region's rows from the cursor's on n rows down.
func (s *screen) insertLines(n int) {
	s.place()
	s.quiet = 0
	if s.inRegion() {
		s.insertRows(s.y, n, s.marginBottom)
	}
}

// deleteLines takes n rows out of the region, from the cursor's on.
func (s *screen) deleteLines(n int) {
	s.place()
	s.quiet = 0
	if !s.inRegion() {
		return
	}
	s.unwrap(s.y)
	for range min(n, s.marginBottom-s.y+1) {
		s.removeRow(s.y, s.marginBottom)
	}
	s.row()
	s.edited()
}

func (s *screen) inRegion() bool { return s.y >= s.marginTop && s.y <= s.marginBottom }

// insertRows puts n blank rows in at row y; what they push past row end is lost.
func (s *screen) insertRows(y, n, end int) {
	y = max(y, s.floor)
	s.pull(y)
	s.unwrap(y)
	for range min(n, end-y+1) {
		i, last := y-s.top, end-s.top
		if i >= len(s.lines) {
			return
		}
		if last < len(s.lines) {
			copy(s.lines[i+1:last+1], s.lines[i:last])
			s.lines[i] = row{}
			s.lines[last].wrapped = false // what it went on with is lost
		} else {
			s.lines = slices.Insert(s.lines, i, row{})
		}
	}
	s.edited()
	s.bound()
}

// unwrap ends the line above row y there.
func (s *screen) unwrap(y int) {
	was := s.y
	s.y = y
	s.part()
	s.y = was
}

// removeRow takes row y out; a blank one comes in at row end.
func (s *screen) removeRow(y, end int) {
	i, last := y-s.top, end-s.top
	if i >= len(s.lines) {
		return
	}
	if last < len(s.lines)-1 {
		copy(s.lines[i:last], s.lines[i+1:last+1])
		s.lines[last] = row{}
		if last > 0 {
			s.lines[last-1].wrapped = false
		}
		return
	}
	copy(s.lines[i:], s.lines[i+1:])
	s.cut(len(s.lines) - 1)
	if len(s.lines) == 0 {
		s.lines = append(s.lines, row{})
	}
}

// scrollUp moves the rows of the region up by one. The first settles, even when the region does
// not begin at the top of the screen: what has been read is not lost.
func (s *screen) scrollUp() {
	s.edited()
	if s.marginTop == 0 && s.top > 0 && s.marginBottom == s.rows-1 {
		s.top--
		s.floor = max(0, s.floor-1)
		return
	}
	s.pull(max(s.floor, s.marginTop))
	first := max(s.marginTop, s.floor)
	i := first - s.top
	if i >= len(s.lines) {
		s.text.append(newline, counts{1, 1})
		return
	}
	s.settleRow(&s.lines[i])
	s.removeRow(first, s.marginBottom)
}

// scrollBy scrolls the region n rows up.
func (s *screen) scrollBy(n int) {
	s.place()
	s.quiet = 0
	for range min(n, s.marginBottom-s.marginTop+1) {
		s.scrollUp()
	}
	s.row()
}

// scrollDown scrolls the region n rows down.
func (s *screen) scrollDown(n int) {
	s.place()
	s.quiet = 0
	s.insertRows(s.marginTop, n, s.marginBottom)
}

// margins sets the scrolling region to these rows and puts the cursor at the top.
func (s *screen) margins(top, bottom int) {
	top, bottom = max(0, top), min(bottom, s.rows-1)
	if top >= bottom {
		return
	}
	s.moveTo(0, 0)
	s.marginTop, s.marginBottom = top, bottom
}

// save keeps the cursor's place for restore.
func (s *screen) save() {
	s.place()
	s.saved = savedCursor{s.x, s.y}
}

func (s *screen) restore() {
	at := s.saved
	s.moveTo(at.x, at.y)
}

// repeat writes a character again, n times but not past the row's end. A control character is
// none, nor is one that takes no cell.
func (s *screen) repeat(r rune, n int) {
	cells := runeWidth(r)
	if r < ' ' || cells == 0 {
		return
	}
	n = min(n, (s.columns-s.x)/cells)
	p := bytes.Repeat([]byte(string(r)), n)
	s.print(p, counts{units: units16(p)})
}

// reset puts the terminal into its first state; the text of the screen scrolls off.
func (s *screen) reset() {
	s.noWrap, s.inserting = false, false
	s.marginTop, s.marginBottom = 0, s.rows-1
	s.saved = savedCursor{}
	s.moveTo(0, 0)
	s.clear()
}

// softReset puts the modes into their first state.
func (s *screen) softReset() {
	s.noWrap, s.inserting = false, false
	s.marginTop, s.marginBottom = 0, s.rows-1
	s.saved = savedCursor{}
}

// index moves the cursor a row down, scrolling at the end of the region, to its beginning if asked.
func (s *screen) index(first bool) {
	s.place()
	s.quiet = 0
	if first {
		s.x = 0
	}
	s.down(false)
	s.row()
}
