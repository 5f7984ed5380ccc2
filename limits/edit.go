package limits

// This file erases, inserts, deletes and repeats characters.

import (
	"bytes"
	"slices"
)

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
	if s.y > s.lowest() {
		s.pull(s.lowest())
		s.row()
		s.unwrap(s.lowest())
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
		s.pull(s.lowest())
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
