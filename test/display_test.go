//go:build linux

package test

// This file is a terminal, the naive way: what execctl's bytes make of a screen and what has
// scrolled off it. It knows what execctl sends (ECMA-48 and DEC's autowrap), and nothing else.

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// display is a screen with its history. The cursor is at row, col; col is cols-1 and full is
// set once the last column is written and the next character would wrap.
type display struct {
	cols     int
	height   int
	rows     []*displayRow // history and screen; the last height of them are the screen
	row, col int           // row counts from the first of rows
	full     bool
	nowrap   bool
}

// displayRow is a row; continued says that the next goes on with its line.
type displayRow struct {
	cells     []rune
	continued bool
}

func newDisplay(height, cols int) *display {
	d := &display{height: height, cols: cols}
	for range height {
		d.addRow()
	}
	return d
}

func (d *display) addRow() {
	d.rows = append(d.rows, &displayRow{cells: []rune(strings.Repeat(" ", d.cols))})
}

var control = regexp.MustCompile(`^\x1b\[(\??)([0-9;]*)([A-Za-z])`)

// write shows what a program sends. An unknown sequence is an error.
func (d *display) write(text string) error {
	for text != "" {
		size := 1
		switch r, n := utf8.DecodeRuneInString(text); {
		case r == '\r':
			d.col, d.full = 0, false
		case r == '\n':
			d.lineFeed()
		case r == 0x1B:
			m := control.FindStringSubmatch(text)
			if m == nil || !d.control(m[1]+m[3], m[2]) {
				return fmt.Errorf("the display does not know %.20q", text)
			}
			size = len(m[0])
		case r < ' ' || r == utf8.RuneError:
			return fmt.Errorf("the display does not know %.20q", text)
		default:
			d.put(r)
			size = n
		}
		text = text[size:]
	}
	return nil
}

func (d *display) put(r rune) {
	if d.full && !d.nowrap {
		d.rows[d.row].continued = true
		d.col = 0
		d.lineFeed()
	}
	d.rows[d.row].cells[d.col] = r
	d.full = d.col == d.cols-1
	d.col = min(d.col+1, d.cols-1)
}

func (d *display) lineFeed() {
	d.full = false
	if d.row++; d.row == len(d.rows) {
		d.addRow()
	}
}

// control obeys one control sequence, if it is one of execctl's.
func (d *display) control(name, params string) bool {
	n, err := strconv.Atoi(params)
	switch {
	case name == "m":
	case name == "?l" && params == "7":
		d.nowrap = true
	case name == "?h" && params == "7":
		d.nowrap = false
	case name == "A" && err == nil:
		d.row, d.full = max(d.row-n, len(d.rows)-d.height), false
	case name == "K" && params == "":
		d.erase(d.row, d.col)
	case name == "J" && params == "":
		d.erase(d.row, d.col)
		for row := d.row + 1; row < len(d.rows); row++ {
			d.erase(row, 0)
		}
	default:
		return false
	}
	return true
}

func (d *display) erase(row, from int) {
	for col := from; col < d.cols; col++ {
		d.rows[row].cells[col] = ' '
	}
	d.rows[row].continued = false
}

// screen returns the rows of the screen, up to the last that is not empty.
func (d *display) screen() (rows []string) {
	for _, row := range d.rows[len(d.rows)-d.height:] {
		rows = append(rows, strings.TrimRight(string(row.cells), " "))
	}
	return cutEmpty(rows)
}

// lines returns the lines of history and screen, those over several rows joined, up to the last
// that is not empty.
func (d *display) lines() (lines []string) {
	line := ""
	for _, row := range d.rows {
		if line += string(row.cells); !row.continued {
			lines = append(lines, strings.TrimRight(line, " "))
			line = ""
		}
	}
	return cutEmpty(lines)
}

func cutEmpty(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func TestDisplay(t *testing.T) {
	for _, c := range []struct{ sent, want string }{
		{"ab\r\ncd", "ab|cd"},
		{"ab\rX", "Xb"},
		{"0123456", "0123456"}, // over two rows
		{"\x1b[?7l0123456", "01236"},
		{"\x1b[?7l01234\x1b[K\r\nx", "0123|x"}, // erasing takes the column the cursor is on
		{"01234\x1b[K\r\nx", "0123|x"},
		{"a\r\nb\r\nc\r\x1b[2A\x1b[J", ""},
		{"a\r\nb\r\nc\r\x1b[1AX\x1b[K", "a|X|c"},
		{"1\r\n2\r\n3\r\n4\r\x1b[9AX", "1|X|3|4"}, // no way back into the history
		{"\x1b[7mé\x1b[m", "é"},
	} {
		d := newDisplay(3, 5)
		if err := d.write(c.sent); err != nil {
			t.Errorf("%q: %v", c.sent, err)
		}
		if got := strings.Join(d.lines(), "|"); got != c.want {
			t.Errorf("%q shows %q, want %q", c.sent, got, c.want)
		}
	}
	if err := newDisplay(3, 5).write("\x1b[31;1H"); err == nil {
		t.Error("an unknown sequence is no error")
	}
}
