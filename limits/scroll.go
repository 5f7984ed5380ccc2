package limits

// This file moves whole rows: inserted, deleted, scrolled.

import "slices"

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
	y = max(y, s.lowest())
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
		if s.floor > 0 {
			s.floor--
		}
		return
	}
	s.pull(max(s.lowest(), s.marginTop))
	first := max(s.marginTop, s.lowest())
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
