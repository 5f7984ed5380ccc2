package limits

// This file is the character set of lines and corners that programs draw with where they do not
// trust the terminal with UTF-8.

// graphics are the DEC Special Graphics from ` to ~ (VT220 Programmer Reference Manual, table 2-4).
var graphics = []rune("◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")

// charsets says which of two character sets are the graphics, and which set is in use.
type charsets struct {
	g0, g1  bool
	shifted bool // G1 is in use
}

// designate handles ESC ( and ESC ): which set G0 or G1 is.
func (c *charsets) designate(which, set byte) {
	if which == '(' {
		c.g0 = set == '0'
	} else {
		c.g1 = set == '0'
	}
}

func (c *charsets) graphic() bool {
	return c.shifted && c.g1 || !c.shifted && c.g0
}

// printGraphics prints text with the graphics in place of the letters they share a code with.
func (t *terminal) printGraphics(p []byte) {
	for _, r := range string(p) {
		if r >= '`' && r <= '~' {
			r = graphics[r-'`']
		}
		t.last = r
		char := []byte(string(r))
		c := counts{units: units16(char)}
		if r == '\n' {
			c.newlines = 1
		}
		t.screen.print(char, c)
	}
}
