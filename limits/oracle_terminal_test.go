package limits

// The oracle's terminal: a matrix of cells, every byte looked at, nothing lazy. It shares no
// code with what it checks but the width of a character.

import (
	"slices"
	"strings"
)

// oracleText is the text a person would have seen, and how many newlines came on the alternate
// screen after it.
func oracleText(raw []byte, t Terminal) (text string, unseen int) {
	if t.Raw {
		return oracleRaw(raw), 0
	}
	o := oracleRun(raw, t)
	return strings.TrimSuffix(o.text.String(), "\n"), o.unseen
}

// withinReach reports that the oracle's terminal had nothing on it that a cursor could go back to
// there and not in a window, whose reach is bounded.
func withinReach(raw []byte, t Terminal) bool {
	o := oracleRun(raw, t)
	return !o.moved || o.text.Len()+o.height*rowOverhead < minReach
}

func oracleRun(raw []byte, t Terminal) *oracleTerminal {
	o := &oracleTerminal{columns: t.Columns, height: t.Rows, screen: []oracleLine{{}}}
	if o.columns == 0 {
		o.columns = 2048
	}
	if o.height == 0 {
		o.height = 50
	}
	o.bottom = o.height - 1
	for i := 0; i < len(raw); {
		i = o.step(raw, i)
	}
	o.screen[len(o.screen)-1].wrapped = false
	o.settle(len(o.screen))
	return o
}

func oracleRaw(raw []byte) string {
	var b strings.Builder
	for i := 0; i < len(raw); {
		r, n := oracleRune(raw[i:])
		if r == '\n' || r == '\t' || r >= 0x20 && r < 0x7F || r >= 0xA0 {
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// oracleCell is a cell: what is printed there, or nothing where a wide character or a tab to the
// left reaches.
type oracleCell struct {
	text string
	pad  bool
}

type oracleLine struct {
	lead    string // marks before the first cell
	cells   []oracleCell
	wrapped bool
	full    int // cells when it was wrapped
	puts    int // characters printed on it so far
}

func (l *oracleLine) String() string {
	var b strings.Builder
	b.WriteString(l.lead)
	for _, c := range l.cells {
		b.WriteString(c.text)
	}
	return b.String()
}

// holds is the size of the line in bytes with another character; it need not be exact while it
// cannot be much.
func (l *oracleLine) holds(r rune) int {
	if l.puts++; l.puts < 15 {
		return 0
	}
	return len(l.String()) + len(string(r))
}

type oracleTerminal struct {
	columns, height int
	text            strings.Builder
	screen          []oracleLine // down to the last there is
	x, y            int
	top, bottom     int
	savedX, savedY  int
	noWrap, insert  bool
	alt             bool
	moved           bool // more than printing was done
	unseen          int  // newlines on the alternate screen since there was text
	g0, g1, shift   bool
	last            rune // what REP repeats, 0 when nothing
}

// most bounds a line in bytes.
func (o *oracleTerminal) most() int { return min(8192, 64+8*o.columns) }

// settle lets the first n lines go into the text.
func (o *oracleTerminal) settle(n int) {
	for i := range n {
		o.settleAt(i)
	}
	o.screen = o.screen[n:]
}

func (o *oracleTerminal) settleAt(i int) {
	l := &o.screen[i]
	s := l.String()
	o.text.WriteString(s)
	if !l.wrapped {
		o.text.WriteByte('\n')
		return
	}
	o.text.WriteString(strings.Repeat(" ", max(0, l.full-len(l.cells))))
}

// line is the cursor's line.
func (o *oracleTerminal) line() *oracleLine {
	for len(o.screen) <= o.y {
		o.screen = append(o.screen, oracleLine{})
	}
	return &o.screen[o.y]
}

func (o *oracleTerminal) step(raw []byte, i int) int {
	r, n := oracleRune(raw[i:])
	switch {
	case r == 0x1B:
		return o.escape(raw, i+1)
	case r >= 0x80 && r < 0xA0:
		if strings.ContainsRune("[]PX^_", r-0x40) {
			return o.body(raw, i+n, byte(r)-0x40)
		}
	case r == '\n':
		if o.alt {
			o.unseen++
		} else {
			o.unseen = 0
			o.x = 0
			o.down(false)
			o.line()
		}
		o.last = 0
	case r == '\t', r >= 0x20 && r != 0x7F:
		o.print(r)
	default:
		o.control(byte(r))
	}
	return i + n
}

func (o *oracleTerminal) print(r rune) {
	if o.alt {
		return
	}
	o.unseen = 0
	if (o.shift && o.g1 || !o.shift && o.g0) && r >= 0x60 && r <= 0x7E {
		r = []rune("◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")[r-0x60]
	}
	o.last = r
	o.put(r)
}

func (o *oracleTerminal) width(r rune) int {
	if r == '\t' {
		w := 0
		for o.x+w < o.columns-1 && (w == 0 || (o.x+w)%8 != 0) {
			w++
		}
		return w
	}
	return min(runeWidth(r), o.columns)
}

func (o *oracleTerminal) put(r rune) {
	l, w := o.line(), o.width(r)
	if o.x < len(l.cells) {
		switch {
		case r == '\t':
			o.x += w
			return
		case w == 0:
			if l.holds(r) <= o.most() {
				o.mark(l, r)
			}
			return
		}
	}
	if o.x+w > o.columns || o.x == len(l.cells) && l.holds(r) > o.most() {
		if o.noWrap {
			return
		}
		o.down(true)
		o.x = 0
		l, w = o.line(), o.width(r)
	}
	if r == '\t' && w == 0 && o.x > len(l.cells) {
		return
	}
	if o.insert {
		o.insertCells(w)
	}
	for len(l.cells) < o.x {
		l.cells = append(l.cells, oracleCell{text: " "})
	}
	if w == 0 {
		o.mark(l, r)
		return
	}
	l.boundary(o.x)
	l.boundary(o.x + w)
	for len(l.cells) < o.x+w {
		l.cells = append(l.cells, oracleCell{})
	}
	for i := range w {
		l.cells[o.x+i] = oracleCell{pad: i > 0}
	}
	l.cells[o.x].text = string(r)
	o.x += w
	if o.noWrap {
		o.x = min(o.x, o.columns-1)
	}
}

// mark adds a character without a cell before the cursor.
func (o *oracleTerminal) mark(l *oracleLine, r rune) {
	if o.x < len(l.cells) {
		l.boundary(o.x)
	}
	i := o.x - 1
	for i >= 0 && l.cells[i].pad {
		i--
	}
	if i < 0 {
		l.lead += string(r)
	} else {
		l.cells[i].text += string(r)
	}
}

// boundary makes a cell the first of a character.
func (l *oracleLine) boundary(x int) {
	if x >= len(l.cells) || !l.cells[x].pad {
		return
	}
	from := x
	for l.cells[from].pad {
		from--
	}
	l.cells[from] = oracleCell{text: " "}
	for i := from + 1; i < len(l.cells) && l.cells[i].pad; i++ {
		l.cells[i] = oracleCell{text: " "}
	}
}

func (o *oracleTerminal) control(b byte) {
	o.last = 0
	switch b {
	case 0x0E, 0x0F:
		o.shift = b == 0x0E
		return
	}
	if o.alt {
		return
	}
	switch b {
	case '\r':
		o.x = 0
	case '\t':
		o.print('\t')
	case '\b':
		o.moved = true
		if o.x > 0 {
			o.x--
		} else if o.continues(o.y) {
			o.y--
			o.x = o.columns - 1
		}
	}
}

func (o *oracleTerminal) continues(y int) bool {
	return y > 0 && y <= len(o.screen) && o.screen[y-1].wrapped
}

func (o *oracleTerminal) down(wrap bool) {
	if wrap && o.y < len(o.screen) {
		o.screen[o.y].wrapped, o.screen[o.y].full = wrap, max(o.x, len(o.screen[o.y].cells))
	}
	if o.y == o.bottom {
		o.scrollUp()
	} else if o.y < o.height-1 {
		o.y++
	}
}

func (o *oracleTerminal) scrollUp() {
	if o.top >= len(o.screen) {
		o.text.WriteByte('\n')
		return
	}
	o.settleAt(o.top)
	o.take(o.top, o.bottom)
}

// take takes row y out; a blank one comes in at the end.
func (o *oracleTerminal) take(y, end int) {
	o.screen = slices.Delete(o.screen, y, y+1)
	if end <= len(o.screen)-1 {
		o.screen = slices.Insert(o.screen, end, oracleLine{})
		if end > 0 {
			o.screen[end-1].wrapped = false
		}
	}
}

func (o *oracleTerminal) insertRow(y, end int) {
	if y >= len(o.screen) {
		return
	}
	o.screen = slices.Insert(o.screen, y, oracleLine{})
	if end+1 < len(o.screen) {
		o.screen = slices.Delete(o.screen, end+1, end+2)
		o.screen[end].wrapped = false
	}
}

func (o *oracleTerminal) deleteRow(y, end int) {
	if y >= len(o.screen) {
		return
	}
	o.take(y, end)
}

func (o *oracleTerminal) unwrap(y int) {
	if text := o.text.String(); y == 0 && text != "" && !strings.HasSuffix(text, "\n") {
		o.text.WriteByte('\n')
	}
	if o.continues(y) {
		o.screen[y-1].wrapped = false
	}
}
