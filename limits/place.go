package limits

// This file finds the rows of the screen in the settled text, and takes them back.

import "bytes"

// place finds out where on the screen the only row is.
func (s *screen) place() {
	if s.placed {
		return
	}
	s.measure()
	above, all := s.above()
	s.y = s.rows - 1
	if all {
		s.y = len(above)
	}
	s.placed = true
	s.top, s.floor = s.y, s.y-len(above)
	s.quiet = 0
}

// above returns where in the recent text each row begins that is on the screen above the lines,
// counted back from the end of the text, and whether the screen begins with the output.
func (s *screen) above() (starts []int, all bool) {
	most := s.rows - 1
	text, whole := s.text.recent(s.reach)
	for end := len(text); end > 0 && len(starts) < most; {
		line := lineStart(text, end)
		if line == 0 && !whole {
			return starts, false
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
	return starts, whole && len(starts) < most
}

// pull takes rows back out of the text, down to row y.
func (s *screen) pull(y int) {
	if y >= s.top {
		return
	}
	starts, _ := s.above()
	n := s.top - y
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
	s.top = y
	s.epoch++
	s.edited()
}

// lineStart returns where the line begins that ends before end, its newline included.
func lineStart(text []byte, end int) int {
	return bytes.LastIndexByte(text[:end-1], '\n') + 1
}
