package limits

// This file moves the cursor. Where terminals differ it is as in tmux, which the differential test
// compares with. What is here and in edit.go and scroll.go expects that ready has been called.

// moveTo puts the cursor on the screen's row y and cell x, or as near as there is.
func (s *screen) moveTo(x, y int) {
	s.column(x)
	s.moveRow(y)
}

// moveRow puts the cursor on the screen's row y, in the cell it is in.
func (s *screen) moveRow(y int) {
	s.place()
	s.quiet = 0
	s.y = max(s.lowest(), min(y, s.rows-1))
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
		if s.place(); s.y > s.lowest() {
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

// unwrap ends the line above row y there.
func (s *screen) unwrap(y int) {
	was := s.y
	s.y = y
	s.part()
	s.y = was
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

// save keeps the cursor's place for restore.
func (s *screen) save() {
	s.place()
	s.saved = savedCursor{s.x, s.y}
}

func (s *screen) restore() {
	at := s.saved
	s.moveTo(at.x, at.y)
}
