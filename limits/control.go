package limits

// This file carries out control characters and escape sequences.

// control handles a C0 control character. Vertical tab and form feed are removed like the ones
// without meaning: they are in files, and a line of the view is a line of the output.
func (t *terminal) control(b byte) {
	t.last = 0
	switch b {
	case 0x0E, 0x0F: // SO, SI
		t.charsets.shifted = b == 0x0E
		return
	}
	s := &t.screen
	switch {
	case t.alternate:
	case b == '\b':
		s.ready()
		s.backspace()
	case b == '\t':
		s.print([]byte{'\t'}, counts{units: 1})
	case b == '\r':
		s.ready()
		s.column(0)
	}
}

// escapeSequence handles ESC, perhaps an intermediate, and a final byte.
func (t *terminal) escapeSequence(final byte) {
	t.last = 0
	switch t.sequence.middle {
	case '(', ')':
		t.charsets.designate(t.sequence.middle, final)
		return
	case 0:
	default:
		return
	}
	s := &t.screen
	if final == 'c' { // RIS
		t.alternate = false
		t.charsets = charsets{}
		s.ready()
		s.reset()
		s.touched = true
	}
	if t.alternate {
		return
	}
	s.ready()
	switch final {
	case '7': // DECSC
		s.save()
	case '8': // DECRC
		s.restore()
	case 'D', 'E': // IND, NEL
		s.index(final == 'E')
	case 'M': // RI
		s.reverse()
	}
}

// controlSequence handles ESC [, parameters and a final byte.
func (t *terminal) controlSequence(final byte) {
	q := &t.sequence
	last := t.last
	t.last = 0
	switch {
	case q.odd:
	case q.middle == '?' && (final == 'h' || final == 'l'):
		t.privateModes(final == 'h')
	case q.middle == '!' && final == 'p': // DECSTR
		t.charsets = charsets{}
		t.screen.ready()
		t.screen.softReset()
	case q.middle != 0 || t.alternate:
	case final == 'b': // REP
		t.screen.ready()
		t.screen.repeat(last, q.parameter(0, 1))
	default:
		t.screen.ready()
		t.screen.do(final, q)
	}
}

// privateModes sets or resets the modes with a question mark that concern text.
func (t *terminal) privateModes(on bool) {
	for i := range min(t.sequence.count, maxParameters) {
		switch t.sequence.parameters[i] {
		case 7: // DECAWM
			t.screen.ready()
			t.screen.noWrap = !on
		case 47, 1047, 1049:
			t.screen.touched = t.screen.touched || t.alternate != on
			t.alternate = on
		}
	}
}

// do carries out a control sequence without intermediates.
func (s *screen) do(final byte, q *sequence) {
	n := q.parameter(0, 1)
	switch final {
	case 'A': // CUU
		s.up(n)
	case 'B', 'e': // CUD, VPR
		s.downBy(n)
	case 'C', 'a': // CUF, HPR
		s.right(n)
	case 'D': // CUB
		s.left(n)
	case 'E': // CNL
		s.downBy(n)
		s.column(0)
	case 'F': // CPL
		s.up(n)
		s.column(0)
	case 'G', '`': // CHA, HPA
		s.column(n - 1)
	case 'd': // VPA
		s.moveRow(n - 1)
	case 'H', 'f': // CUP, HVP
		s.moveTo(q.parameter(1, 1)-1, n-1)
	case 'r': // DECSTBM
		bottom := s.rows
		if q.count > 1 && q.parameters[1] > 0 {
			bottom = q.parameters[1]
		}
		s.margins(n-1, bottom-1)
	case 's': // SCOSC
		s.save()
	case 'u': // SCORC
		s.restore()
	case 'S': // SU
		s.scrollBy(n)
	case 'T': // SD
		s.scrollDown(n)
	case 'h', 'l': // SM, RM: IRM alone
		if q.parameter(0, 0) == 4 {
			s.inserting = final == 'h'
		}
	default:
		s.change(final, n, q.parameter(0, 0))
	}
}

// change carries out a control sequence that erases, inserts or deletes n, or the part that kind
// says.
func (s *screen) change(final byte, n, kind int) {
	switch final {
	case '@': // ICH
		s.insertCells(n)
	case 'P': // DCH
		s.deleteCells(n)
	case 'X': // ECH
		s.eraseCells(n)
	case 'L': // IL
		s.insertLines(n)
	case 'M': // DL
		s.deleteLines(n)
	case 'J': // ED; the third kind, the lines scrolled off, is not for a command to take away
		switch kind {
		case 0:
			s.eraseBelow()
		case 1:
			s.eraseAbove()
		case 2:
			s.clear()
		}
	case 'K': // EL
		switch kind {
		case 0:
			s.eraseRight()
		case 1:
			s.eraseLeft()
		case 2:
			s.eraseRow(0, s.columns)
		}
	}
}
