package limits

// This file says how many cells of a terminal a character takes.

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// tabStop is the distance of tab stops, in cells.
const tabStop = 8

// zeroWidth has a bit for each character of the basic plane that takes no cell of its own:
// combining marks and format characters (Unicode's Mn, Me and Cf), but the soft hyphen, and the
// vowels and final consonants that complete a Hangul syllable.
var zeroWidth = func() (set [1 << 16 / 64]uint64) {
	for _, table := range []*unicode.RangeTable{unicode.Mn, unicode.Me, unicode.Cf} {
		for _, r := range table.R16 {
			for c := int(r.Lo); c <= int(r.Hi); c += int(r.Stride) {
				set[c/64] |= 1 << (c % 64)
			}
		}
	}
	for c := 0x1160; c <= 0x11FF; c++ {
		set[c/64] |= 1 << (c % 64)
	}
	set[0xAD/64] &^= 1 << (0xAD % 64)
	return set
}()

// runeWidth returns the cells r takes: 0, 1, or 2 for the wide and fullwidth characters of
// Unicode's East Asian Width (UAX #11).
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r < 1<<16:
		if zeroWidth[r/64]>>(r%64)&1 != 0 {
			return 0
		}
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// charAt returns the size in bytes of the character that p begins with, and the cells it takes
// when it stands in this column of so many. A tab goes to the next tab stop, or to the last
// column.
func charAt(p []byte, column, columns int) (size, cells int) {
	switch b := p[0]; {
	case b == '\t':
		return 1, max(0, min((column/tabStop+1)*tabStop, columns-1)-column)
	case b < utf8.RuneSelf:
		return 1, 1
	// By the first byte alone, for speed: Latin, Cyrillic and the most of Han.
	case b >= 0xC3 && b <= 0xCB || b == 0xD0 || b == 0xD1:
		return 2, 1
	case b >= 0xE5 && b <= 0xE8:
		return 3, min(2, columns)
	}
	r, size := utf8.DecodeRune(p)
	return size, min(runeWidth(r), columns)
}
