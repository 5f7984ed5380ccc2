package limits

// This file finds the rows of the screen in the settled text, and takes them back.

import "bytes"

// unknown is the floor that has not been asked for.
const unknown = -1

// place finds out where on the screen the only row is, for the cursor to go elsewhere.
func (s *screen) place() {
	s.locate()
	s.drawn = true
}

// locate finds out where on the screen the only row is.
func (s *screen) locate() {
	if s.placed {
		return
	}
	s.measure()
	s.y = s.rows - 1
	if text, whole := s.text.recent(s.reach); whole && bytes.Count(text, newline) < s.y {
		above := s.above(s.y)
		s.y = len(above)
	}
	s.placed = true
	s.top, s.floor = s.y, unknown
	s.quiet = 0
}

// lowest returns the first row that is not out of reach, at most top.
func (s *screen) lowest() int {
	if s.floor == unknown {
		s.floor = max(0, s.top-len(s.above(s.top)))
	}
	return s.floor
}

// above returns where in the recent text each row begins that is above the lines, at most so
// many of the last, counted back from the end of the text.
func (s *screen) above(most int) (starts []int) {
	text, whole := s.text.recent(s.reach)
	for end := len(text); end > 0 && len(starts) < most; {
		line := lineStart(text, end)
		if line == 0 && !whole {
			return starts
		}
		body := text[line:end]
		if body[len(body)-1] == '\n' {
			body = body[:len(body)-1]
		}
		found := []int{len(text) - line}
		for at := 0; ; {
			n, _ := rowEnd(body[at:], 0, 0, s.columns)
			if at += n; at == len(body) {
				break
			}
			found = append(found, len(text)-line-at)
		}
		for i := len(found) - 1; i >= 0 && len(starts) < most; i-- {
			starts = append(starts, found[i])
		}
		end = line
	}
	return starts
}

// pull takes rows back out of the text, down to row y or as far as they are within reach.
func (s *screen) pull(y int) {
	if y = max(y, 0); y >= s.top {
		return
	}
	starts := s.above(s.top - y)
	n := len(starts)
	if n == 0 {
		return
	}
	back := starts[n-1]
	text, _ := s.text.recent(s.reach)
	pulled := make([]row, n, n+len(s.lines))
	for i := range pulled {
		end := 0
		if from := n - 1 - i; from > 0 {
			end = starts[from-1]
		}
		p := text[len(text)-starts[n-1-i] : len(text)-end]
		pulled[i].wrapped = p[len(p)-1] != '\n'
		if !pulled[i].wrapped {
			p = p[:len(p)-1]
		}
		pulled[i].buf = append([]byte(nil), p...)
		pulled[i].measure(s.columns)
		pulled[i].full = pulled[i].width
	}
	s.text.rewind(back)
	s.lines = append(pulled, s.lines...)
	s.top -= n
	s.epoch++
	s.edited()
}

// printed reports that all lines but the last, which is empty, are as printing them would make
// them: once they have settled, above finds the same rows in their text.
func (s *screen) printed() bool {
	before := row{}
	if s.text.open() {
		starts := s.above(1)
		if len(starts) == 0 {
			return false
		}
		text, _ := s.text.recent(s.reach)
		before.buf, before.wrapped = text[len(text)-starts[0]:], true
		before.measure(s.columns)
	}
	for i := range s.lines {
		r := &s.lines[i]
		if before.wrapped && before.takes(r.buf, s.columns) {
			return false
		}
		before = *r
	}
	return true
}

// lineStart returns where the line begins that ends before end, its newline included.
func lineStart(text []byte, end int) int {
	return bytes.LastIndexByte(text[:end-1], '\n') + 1
}
