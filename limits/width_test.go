package limits

import (
	"testing"
	"unicode/utf8"
)

// TestWidth: the characters that programs line up with.
func TestWidth(t *testing.T) {
	for _, c := range []struct {
		r    rune
		want int
	}{
		{'a', 1}, {'é', 1}, {'Ж', 1}, {'─', 1}, {'━', 1}, {'█', 1}, {'✓', 1}, {'…', 1}, {0xAD, 1},
		{'日', 2}, {'한', 2}, {'ａ', 2}, {'😀', 2}, {'🚀', 2}, {'⌚', 2}, {'。', 2}, {0x20000, 2},
		{0x301, 0}, {0x200B, 0}, {0x200D, 0}, {0xFE0F, 0}, {0x1161, 0}, {0xFEFF, 0}, {0xE0101, 0},
	} {
		if got := runeWidth(c.r); got != c.want {
			t.Errorf("%U takes %d cells, want %d", c.r, got, c.want)
		}
	}
}

// TestCharAt: the short ways say what the tables do.
func TestCharAt(t *testing.T) {
	for r := rune(0xA0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		size, cells := charAt([]byte(string(r)), 0, 80)
		if size != utf8.RuneLen(r) || cells != runeWidth(r) {
			t.Fatalf("%U: %d bytes, %d cells, want %d, %d", r, size, cells, utf8.RuneLen(r), runeWidth(r))
		}
	}
	for _, c := range [][3]int{{0, 80, 8}, {7, 80, 1}, {8, 80, 8}, {72, 80, 7}, {79, 80, 0}, {80, 80, 0}, {0, 5, 4}, {0, 1, 0}} {
		if _, cells := charAt([]byte("\t"), c[0], c[1]); cells != c[2] {
			t.Errorf("a tab in column %d of %d takes %d cells, want %d", c[0], c[1], cells, c[2])
		}
	}
}
