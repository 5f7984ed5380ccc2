// UTF-16 code units: what JavaScript, and so the vocabulary, counts text in.

package chord

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

var errSplit = errors.New("cut splits a surrogate pair")

// Units returns the length of s in UTF-16 code units, as JavaScript's length has
// it: two for a character outside the Basic Multilingual Plane, one for any other
// and for each invalid byte.
func Units[T string | []byte](s T) int {
	n := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) && load(s, i)&highs == 0 {
			i += 8
			n += 8
			continue
		}
		size := 1
		if s[i] >= utf8.RuneSelf {
			size = max(runeSize(s, i), 1)
		}
		i += size
		n++
		if size == utf8.UTFMax {
			n++
		}
	}
	return n
}

// skipUnits returns the byte offset in s after its first units.
func skipUnits(s string, units int) (int, error) {
	if units > len(s) { // a unit is at least a byte
		return 0, fmt.Errorf("%d code units are not in a text of %d bytes", units, len(s))
	}
	from, left := 0, units
	for left >= 8 && from+8 <= len(s) && load(s, from)&highs == 0 {
		from += 8
		left -= 8
	}
	for i, r := range s[from:] {
		switch {
		case left == 0:
			return from + i, nil
		case left == 1 && r > 0xFFFF:
			return 0, errSplit
		case r > 0xFFFF:
			left--
		}
		left--
	}
	if left > 0 {
		return 0, fmt.Errorf("%d code units are not in a text of %d", units, units-left)
	}
	return len(s), nil
}
