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
	var text []byte
	switch s := any(s).(type) {
	case string:
		text = view(s)
	case []byte:
		text = s
	}
	n := 0
	for len(text) > 0 {
		if ascii := asciiPrefix(text); ascii > 0 {
			n += ascii
			text = text[ascii:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		n += units(r)
		text = text[size:]
	}
	return n
}

func units(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// skipUnits returns the length in bytes of the first n code units of s.
func skipUnits(s string, n int) (int, error) {
	if n > len(s) { // a unit is at least a byte
		return 0, fmt.Errorf("%d code units are not in a text of %d bytes", n, len(s))
	}
	text := view(s)
	i, left := 0, n
	for left > 0 && i < len(text) {
		// No more than left bytes can be the characters looked for.
		if ascii := asciiPrefix(text[i:min(i+left, len(text))]); ascii > 0 {
			i += ascii
			left -= ascii
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		left -= units(r)
	}
	switch {
	case left > 0:
		return 0, fmt.Errorf("%d code units are not in a text of %d", n, n-left)
	case left < 0:
		return 0, errSplit
	}
	return i, nil
}
