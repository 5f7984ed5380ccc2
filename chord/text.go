// Text as JSON strings, written: minimal escapes, and eight bytes at a time
// where nothing needs one.

package chord

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

// appendQuoted appends text as a JSON string. It escapes what JSON requires and
// nothing else, in the spelling of JavaScript's JSON.stringify, so that both
// write the same bytes. Invalid UTF-8 becomes U+FFFD, byte by byte.
func appendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	for len(text) > 0 {
		dst = slices.Grow(dst, len(text)+8)
		out, in := escape(dst[len(dst):cap(dst)], text)
		dst, text = dst[:len(dst)+out], text[in:]
		for len(text) > 0 && (len(text) < 8 || !isPlain(text[0])) {
			var size int
			dst, size = appendChar(dst, text)
			text = text[size:]
		}
	}
	return append(dst, '"')
}

// appendChar appends the first character of text, which has size bytes.
func appendChar(dst, text []byte) (_ []byte, size int) {
	c := text[0]
	switch {
	case isPlain(c):
		return append(dst, c), 1
	case c >= utf8.RuneSelf:
		r, size := utf8.DecodeRune(text)
		return utf8.AppendRune(dst, r), size
	case escapes[c] != 0:
		return append(dst, '\\', escapes[c]), 1
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15]), 1
}

// escapes has the letters that stand for characters after a backslash.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't',
}

// escape writes text into dst as it stands in a JSON string, as long as that is
// ASCII with short escapes and there are eight bytes more in both. out bytes were
// written for the first in bytes.
//
// It copies eight bytes at a time and then looks how many of them it may keep. What
// it writes beyond out is less than what the rest of text will be.
func escape(dst, text []byte) (out, in int) {
	for in+8 <= len(text) && out+8 <= len(dst) {
		w := word(text[in : in+8])
		binary.LittleEndian.PutUint64(dst[out:out+8], w)
		special := specials(w)
		if special == 0 {
			in, out = in+8, out+8
			continue
		}
		plain := bits.TrailingZeros64(special) / 8
		in, out = in+plain, out+plain
		letter := escapes[text[in]]
		if letter == 0 || out+2 > len(dst) {
			break
		}
		dst[out], dst[out+1] = '\\', letter
		in, out = in+1, out+2
	}
	return out, in
}

const (
	ones  = 0x0101010101010101 // one in each byte
	highs = 0x8080808080808080 // the high bit of each byte
)

// specials has the high bit set in the first byte of w that is not plain ASCII, and in none
// before it.
//
// x-n sets the high bit of a byte x < n, and may set that of bytes further up by a borrow. So
// the lowest one that is set tells the truth.
func specials(w uint64) uint64 {
	return (w | (w - ones*' ') | (w ^ ones*'"' - ones) | (w ^ ones*'\\' - ones)) & highs
}

// isPlain reports whether a JSON string holds c as it is, as ASCII.
func isPlain(c byte) bool { return ' ' <= c && c < utf8.RuneSelf && c != '"' && c != '\\' }

// asciiPrefix returns how many of the first bytes of text are ASCII for certain.
func asciiPrefix(text []byte) int {
	i := 0
	// An array of 64 bytes is checked for its length once, not at each of its words.
	for len(text)-i >= 64 {
		b := (*[64]byte)(text[i:])
		if (word(b[0:])|word(b[8:])|word(b[16:])|word(b[24:])|
			word(b[32:])|word(b[40:])|word(b[48:])|word(b[56:]))&highs != 0 {
			break
		}
		i += 64
	}
	for i+8 <= len(text) && word(text[i:])&highs == 0 {
		i += 8
	}
	return i
}

func isASCII(s string) bool {
	text := view(s)
	i := asciiPrefix(text)
	for i < len(text) && text[i] < utf8.RuneSelf {
		i++
	}
	return i == len(text)
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// view returns the bytes of s, which must not be changed.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// asString returns text as a string, which is one as long as nobody changes text.
func asString(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }
