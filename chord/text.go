// Text as JSON strings, written: minimal escapes, and eight bytes at a time
// where nothing needs one.

package chord

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

// appendQuoted appends text as a JSON string. It escapes what JSON requires and
// nothing else, in the spelling of JavaScript's JSON.stringify, so that both
// write the same bytes. Invalid UTF-8 becomes U+FFFD, byte by byte.
func appendQuoted(dst, text []byte) []byte {
	dst = append(dst, '"')
	for {
		plain := plainPrefix(text)
		dst = append(dst, text[:plain]...)
		text = text[plain:]
		switch {
		case len(text) == 0:
			return append(dst, '"')
		case text[0] < utf8.RuneSelf:
			dst = appendEscaped(dst, text[0])
		default:
			dst = append(dst, "\uFFFD"...)
		}
		text = text[1:]
	}
}

func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

const (
	ones  = 0x0101010101010101 // one in each byte
	highs = 0x8080808080808080 // the high bit of each byte
)

// plainPrefix returns the length of the longest prefix of text that a JSON string
// holds as it is: valid UTF-8 without control character, quote and backslash.
func plainPrefix(text []byte) int {
	i := 0
	for {
		i += plainASCII(text[i:])
		if i == len(text) || text[i] < utf8.RuneSelf {
			return i
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}

// plainASCII is plainPrefix up to the first character outside ASCII.
func plainASCII(text []byte) int {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		if at := specials(word(text[i:])); at != 0 {
			return i + bits.TrailingZeros64(at)/8
		}
	}
	for i < len(text) && isPlain(text[i]) {
		i++
	}
	return i
}

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
