package limits

// The oracle's reading of escape sequences, and what they do to its cells.

import "strings"

// escape carries out the sequence whose ESC stands before i and returns the index after it.
func (o *oracleTerminal) escape(raw []byte, i int) int {
	middle := ""
	for n := 1; i < len(raw); i, n = i+1, n+1 {
		switch b := raw[i]; {
		case b == '\n':
			return i
		case b == 0x1B:
			return o.escape(raw, i+1)
		case b == 0x18, b == 0x1A, n >= maxSequence:
			return i + 1
		case b >= 0x80:
			return i
		case b == 0x7F:
		case b < 0x20:
			o.control(b)
		case b < 0x30:
			middle += string(rune(b))
		case middle == "" && strings.ContainsRune("[]PX^_", rune(b)):
			return o.body(raw, i+1, b)
		default:
			o.escapeDone(middle, b)
			return i + 1
		}
	}
	return i
}

// body carries out a sequence of this kind whose body begins at i and returns the index after it.
func (o *oracleTerminal) body(raw []byte, i int, kind byte) int {
	if kind != '[' {
		return o.stringBody(raw, i, kind)
	}
	text := ""
	for n := 1; i < len(raw); i, n = i+1, n+1 {
		switch b := raw[i]; {
		case b == '\n', b >= 0x80:
			return i
		case b == 0x1B:
			return o.escape(raw, i+1)
		case b == 0x18, b == 0x1A, n >= maxSequence:
			return i + 1
		case b == 0x7F:
		case b < 0x20:
			o.control(b)
		case b < 0x40:
			text += string(rune(b))
		default:
			o.csi(text, b)
			return i + 1
		}
	}
	return i
}

func (o *oracleTerminal) stringBody(raw []byte, i int, kind byte) int {
	for n := 1; i < len(raw); i, n = i+1, n+1 {
		switch b := raw[i]; {
		case b == '\n':
			return i
		case b == 0x18, b == 0x1A, n >= maxSequence, b == 0x07 && kind == ']':
			return i + 1
		case i+1 < len(raw) && n+1 < maxSequence && b == 0x1B && raw[i+1] == '\\',
			i+1 < len(raw) && n+1 < maxSequence && b == 0xC2 && raw[i+1] == 0x9C:
			return i + 2
		case b == 0x1B && n+1 < maxSequence && i+1 < len(raw) && raw[i+1] != '\n' &&
			raw[i+1] != 0x18 && raw[i+1] != 0x1A:
			return o.escape(raw, i+1)
		}
	}
	return i
}

func (o *oracleTerminal) escapeDone(middle string, b byte) {
	o.last = 0
	o.moved = true
	switch middle {
	case "":
	case "(":
		o.g0 = b == '0'
		return
	case ")":
		o.g1 = b == '0'
		return
	default:
		return
	}
	if b == 'c' {
		o.alt, o.g0, o.g1, o.shift = false, false, false, false
		o.noWrap, o.insert = false, false
		o.top, o.bottom = 0, o.height-1
		o.savedX, o.savedY = 0, 0
		o.x, o.y = 0, 0
		o.clear()
	}
	if o.alt {
		return
	}
	switch b {
	case '7':
		o.savedX, o.savedY = o.x, o.y
	case '8':
		o.moveTo(o.savedX, o.savedY)
	case 'D', 'E':
		if b == 'E' {
			o.x = 0
		}
		o.down(false)
		o.line()
	case 'M':
		if o.y == o.top {
			o.unwrap(o.top)
			o.insertRow(o.top, o.bottom)
		} else {
			o.y = max(0, o.y-1)
		}
	}
}

func (o *oracleTerminal) moveTo(x, y int) {
	o.x = max(0, min(x, o.columns-1))
	o.y = max(0, min(y, o.height-1))
}

func (o *oracleTerminal) csi(text string, final byte) {
	last := o.last
	o.last = 0
	o.moved = o.moved || final != 'm'
	marks := ""
	var params []int
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9', r == ';':
			if len(params) == 0 {
				params = []int{0}
			}
			if last := &params[len(params)-1]; r == ';' {
				params = append(params, 0)
			} else {
				*last = min(1<<15, *last*10+int(r-'0'))
			}
		default:
			marks += string(r)
		}
	}
	param := func(i, least int) int {
		if i < len(params) && i < maxParameters {
			return max(least, params[i])
		}
		return least
	}
	switch {
	case marks == "?" && (final == 'h' || final == 'l'):
		for i := range min(len(params), maxParameters) {
			switch params[i] {
			case 7:
				o.noWrap = final == 'l'
			case 47, 1047, 1049:
				o.alt = final == 'h'
			}
		}
	case marks == "!" && final == 'p':
		o.g0, o.g1, o.shift, o.noWrap, o.insert = false, false, false, false, false
		o.top, o.bottom = 0, o.height-1
		o.savedX, o.savedY = 0, 0
	case marks != "" || o.alt:
	case final == 'b':
		if last != 0 && last != '\t' && runeWidth(last) > 0 {
			for range min(param(0, 1), (o.columns-o.x)/runeWidth(last)) {
				o.print(last)
			}
			o.last = 0
		}
	default:
		o.do(final, param(0, 1), param(0, 0), param(1, 1), param(1, 0))
	}
}

func (o *oracleTerminal) do(final byte, n, kind, m, m0 int) {
	l := func() *oracleLine { return o.line() }
	up := func() {
		top := 0
		if o.y >= o.top {
			top = o.top
		}
		o.moveTo(o.x, max(top, o.y-n))
	}
	down := func() {
		bottom := o.height - 1
		if o.y <= o.bottom {
			bottom = o.bottom
		}
		o.moveTo(o.x, min(bottom, o.y+n))
	}
	switch final {
	case 'A':
		up()
	case 'B', 'e':
		down()
	case 'E':
		down()
		o.x = 0
	case 'F':
		up()
		o.x = 0
	case 'C', 'a':
		o.moveTo(o.x+n, o.y)
	case 'D':
		o.moveTo(o.x-n, o.y)
	case 'G', '`':
		o.moveTo(n-1, o.y)
	case 'd':
		o.y = min(n, o.height) - 1
	case 'H', 'f':
		o.moveTo(m-1, n-1)
	case 'r':
		if m0 == 0 || m0 > o.height {
			m0 = o.height
		}
		if n < m0 {
			o.top, o.bottom = n-1, m0-1
			o.moveTo(0, 0)
		}
	case 's':
		o.savedX, o.savedY = o.x, o.y
	case 'u':
		o.moveTo(o.savedX, o.savedY)
	case 'S':
		for range min(n, o.bottom-o.top+1) {
			o.scrollUp()
		}
		o.line()
	case 'T':
		o.unwrap(o.top)
		for range min(n, o.bottom-o.top+1) {
			o.insertRow(o.top, o.bottom)
		}
	case 'L':
		if o.y >= o.top && o.y <= o.bottom {
			o.unwrap(o.y)
			for range min(n, o.bottom-o.y+1) {
				o.insertRow(o.y, o.bottom)
			}
		}
	case 'M':
		if o.y >= o.top && o.y <= o.bottom {
			o.unwrap(o.y)
			for range min(n, o.bottom-o.y+1) {
				o.deleteRow(o.y, o.bottom)
			}
			o.line()
		}
	case 'h', 'l':
		if kind == 4 {
			o.insert = final == 'h'
		}
	case '@':
		if o.x < o.columns {
			o.insertCells(n)
		}
	case 'P':
		if o.x == 0 && n >= o.columns {
			o.erase(0, o.columns)
		}
		if o.x == o.columns {
			return
		}
		if line := l(); o.x < len(line.cells) {
			line.expand()
			n = min(n, len(line.cells)-o.x)
			line.boundary(o.x)
			line.boundary(o.x + n)
			line.cells = append(line.cells[:o.x:o.x], line.cells[o.x+n:]...)
		}
	case 'X':
		if o.x < o.columns {
			o.erase(o.x, min(o.columns, o.x+n))
		}
	case 'K', 'J':
		o.eraseKind(final, kind)
	}
}

func (l *oracleLine) expand() {
	l.lead = strings.ReplaceAll(l.lead, "\t", "")
	for i := range l.cells {
		first, rest, _ := strings.Cut(l.cells[i].text, "\t")
		rest = strings.ReplaceAll(rest, "\t", "")
		if first != "" {
			l.cells[i].text = first + rest
		} else if strings.HasPrefix(l.cells[i].text, "\t") {
			marks := rest
			l.cells[i].text = " "
			j := i
			for j+1 < len(l.cells) && l.cells[j+1].pad {
				j++
				l.cells[j] = oracleCell{text: " "}
			}
			l.cells[j].text += marks
		}
	}
}

func (o *oracleTerminal) insertCells(n int) {
	l := o.line()
	if o.x >= len(l.cells) {
		return
	}
	l.expand()
	l.boundary(o.x)
	blank := make([]oracleCell, min(n, o.columns-o.x))
	for i := range blank {
		blank[i].text = " "
	}
	l.cells = append(l.cells[:o.x:o.x], append(blank, l.cells[o.x:]...)...)
	if len(l.cells) > o.columns {
		l.boundary(o.columns)
		l.cells = l.cells[:o.columns]
	}
}

func (o *oracleTerminal) erase(from, to int) {
	l := o.line()
	if from == 0 && to >= o.columns {
		o.unwrap(o.y)
		l.wrapped = false
	}
	if from >= len(l.cells) {
		return
	}
	l.boundary(from)
	if from == 0 && to >= len(l.cells) {
		// The marks before the first cell stay, as they are before what comes there next.
		l.cells = nil
		return
	}
	if to >= len(l.cells) {
		l.cells = l.cells[:from]
		return
	}
	l.boundary(to)
	for i := from; i < to; i++ {
		l.cells[i] = oracleCell{text: " "}
	}
}

func (o *oracleTerminal) eraseKind(final byte, kind int) {
	switch kind {
	case 0:
		if final == 'J' && o.x == 0 && o.y == 0 {
			o.clear()
			return
		}
		if o.x < o.columns {
			o.erase(o.x, o.columns)
		}
		if final == 'J' {
			o.line()
			o.screen = o.screen[:o.y+1]
			if o.y < o.height-1 {
				o.screen[o.y].wrapped = false
			}
		}
	case 1:
		o.line()
		if final == 'J' {
			if o.y > 0 {
				o.unwrap(0)
			}
			for i := range o.y {
				o.screen[i] = oracleLine{}
			}
		}
		o.erase(0, o.x+1)
	case 2:
		if final == 'K' {
			o.erase(0, o.columns)
		} else {
			o.clear()
		}
	}
}

func (o *oracleTerminal) clear() {
	last := len(o.screen)
	for last > 0 && o.screen[last-1].String() == "" {
		last--
	}
	if last > 0 {
		o.screen[last-1].wrapped = false
	} else {
		o.unwrap(0)
	}
	o.settle(last)
	o.screen = []oracleLine{{}}
}
