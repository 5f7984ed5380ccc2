package limits

// This file is one row of the screen: its characters, and the cells they take.

import (
	"bytes"
	"unicode/utf8"
)

const (
	// maxColumns bounds a row in cells. A longer one goes on in the next row, so that a
	// gigabyte without a newline is still appends.
	maxColumns = 2048
	// maxRow bounds the rows of every screen in bytes; see rowBytes.
	maxRow = 4 * maxColumns
)

// rowBytes bounds a row in bytes as it is printed, so that combining characters, which take no
// cell, do not make it long: 8 bytes a cell, and some for a narrow screen.
func rowBytes(columns int) int { return min(maxRow, 8*columns+64) }

// row is one row of the screen, up to the last character written. The zero value is an empty
// one. Methods take the number of columns, which tabs depend on.
type row struct {
	buf []byte
	// width is the cells taken.
	width int
	// ragged says that offsets in buf may not be cells: not all is ASCII without tabs.
	ragged bool
	// wrapped says that the line goes on in the next row. full is the width then: text
	// erased since leaves a gap in the line.
	wrapped bool
	full    int
}

// gap returns how many blanks stand between a wrapped row and the next in their line.
func (r *row) gap() int { return max(0, r.full-r.width) }

// seek returns the offset of the character that covers a cell, and the cell it begins at. A
// combining character belongs to the one before it. Past the end it returns the end.
func (r *row) seek(cell, columns int) (offset, at int) {
	switch {
	case cell >= r.width:
		return len(r.buf), r.width
	case !r.ragged:
		return cell, cell
	}
	// From the end when it is near: after a backspace, the cursor is there.
	offset, at = len(r.buf), r.width
	for range 4 {
		char, size := utf8.DecodeLastRune(r.buf[:offset])
		if offset -= size; char == '\t' || size == 0 {
			break
		}
		if at -= min(runeWidth(char), columns); at <= cell && runeWidth(char) > 0 {
			return offset, at
		}
	}
	for offset, at = 0, 0; offset < len(r.buf); {
		if run := cellRun(r.buf[offset:min(len(r.buf), offset+cell-at)]); run > 0 {
			offset += run
			at += run
			continue
		}
		size, cells := charAt(r.buf[offset:], at, columns)
		if at+cells > cell {
			break
		}
		offset += size
		at += cells
	}
	return offset, at
}

// split returns the offset of a cell, making it the beginning of a character: a wide one or a
// tab that only ends there becomes blanks. Past the end it returns the end.
func (r *row) split(cell, columns int) int {
	offset, at := r.seek(cell, columns)
	if at == cell || offset == len(r.buf) {
		return offset
	}
	size, cells := charAt(r.buf[offset:], at, columns)
	for offset+size < len(r.buf) { // its combining characters
		more, w := charAt(r.buf[offset+size:], at+cells, columns)
		if w > 0 {
			break
		}
		size += more
	}
	r.replace(offset, offset+size, blanks(cells))
	return offset + cell - at
}

// replace puts p in the place of buf[from:to]. It leaves width to its caller.
func (r *row) replace(from, to int, p []byte) {
	grow := len(p) - (to - from)
	if grow > 0 {
		r.buf = append(r.buf, p[:grow]...) // for the room
		copy(r.buf[to+grow:], r.buf[to:])
	} else if grow < 0 {
		copy(r.buf[to+grow:], r.buf[to:])
		r.buf = r.buf[:len(r.buf)+grow]
	}
	copy(r.buf[from:], p)
}

// pad fills the row with blanks up to a cell.
func (r *row) pad(cell int) {
	if cell > r.width {
		r.buf = append(r.buf, blanks(cell-r.width)...)
		r.width = cell
	}
}

// put writes a character of so many cells over what is there; of none, at the end only.
func (r *row) put(cell int, char []byte, cells, columns int) {
	r.pad(cell)
	if char[0] == '\t' || len(char) > 1 {
		r.ragged = true
	}
	if cell == r.width {
		r.buf = append(r.buf, char...)
		r.width += cells
		return
	}
	from := r.split(cell, columns)
	to := r.split(cell+cells, columns)
	r.replace(from, to, char)
	r.width = max(r.width, cell+cells)
}

// combine adds a character without a cell of its own to the one before this cell.
func (r *row) combine(cell int, char []byte, columns int) {
	if len(r.buf)+len(char) > rowBytes(columns) {
		return
	}
	r.ragged = true
	offset := r.split(cell, columns)
	r.replace(offset, offset, char)
}

// erase blanks the cells from one to before another.
func (r *row) erase(from, to, columns int) {
	if from >= r.width {
		return
	}
	start := r.split(from, columns)
	if to >= r.width {
		r.buf = r.buf[:start]
		r.width = from
		return
	}
	end := r.split(to, columns)
	r.replace(start, end, blanks(to-from))
}

// insert moves the cells from one on to the right by n. What passes the last column is lost.
func (r *row) insert(cell, n, columns int) {
	if cell >= r.width {
		return
	}
	r.expand(columns)
	offset := r.split(cell, columns)
	n = min(n, columns-cell)
	r.replace(offset, offset, blanks(n))
	r.width += n
	if r.width > columns {
		end := r.split(columns, columns)
		r.buf = r.buf[:end]
		r.width = columns
	}
}

// remove takes n cells out; what is right of them moves left.
func (r *row) remove(cell, n, columns int) {
	if cell >= r.width {
		return
	}
	r.expand(columns)
	n = min(n, r.width-cell)
	start := r.split(cell, columns)
	end := r.split(cell+n, columns)
	r.replace(start, end, nil)
	r.width -= n
}

// expand turns tabs into the blanks they stand for: moved, they would stand for others.
func (r *row) expand(columns int) {
	at := 0
	for offset := 0; r.ragged && offset < len(r.buf); {
		size, cells := charAt(r.buf[offset:], at, columns)
		if r.buf[offset] == '\t' {
			r.replace(offset, offset+1, blanks(cells))
			size = cells
		}
		offset += size
		at += cells
	}
}

// measure sets width and ragged to what buf says.
func (r *row) measure(columns int) {
	r.width, r.ragged = len(r.buf), false
	if cellRun(r.buf) == len(r.buf) {
		return
	}
	r.width, r.ragged = 0, true
	for p := r.buf; len(p) > 0; {
		size, cells := charAt(p, r.width, columns)
		r.width += cells
		p = p[size:]
	}
}

// takes reports whether the row goes on with the character that rest begins with, or ends there.
func (r *row) takes(rest []byte, columns int) bool {
	if len(rest) == 0 || len(r.buf) == 0 {
		return true
	}
	size, cells := charAt(rest, r.width, columns)
	return r.width+cells <= columns && len(r.buf)+size <= rowBytes(columns)
}

// rowEnd returns how much of a line the row takes that already holds so many bytes and cells of
// it, and the cells it holds then.
func rowEnd(line []byte, held, at, columns int) (n, cells int) {
	most := rowBytes(columns)
	for n < len(line) {
		if room := min(columns-at, most-held-n, len(line)-n); room > 0 {
			if run := cellRun(line[n : n+room]); run > 0 {
				n += run
				at += run
				continue
			}
		}
		size, w := charAt(line[n:], at, columns)
		if held+n > 0 && (at+w > columns || held+n+size > most) {
			break
		}
		n += size
		at += w
	}
	return n, at
}

var blank = bytes.Repeat([]byte{' '}, maxColumns)

// blanks returns n blanks, at most maxColumns.
func blanks(n int) []byte { return blank[:n] }
