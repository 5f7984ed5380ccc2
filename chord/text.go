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
	for {
		dst, text = appendPlain(dst, text)
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

// appendPlain appends to dst the longest prefix of text that a JSON string holds
// as it is: valid UTF-8 without control character, quote and backslash. It
// returns the text after it.
func appendPlain(dst, text []byte) (_, rest []byte) {
	for len(text) > 0 {
		dst, text = appendPlainASCII(dst, text)
		if len(text) == 0 || text[0] < utf8.RuneSelf {
			break
		}
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			break
		}
		dst = append(dst, text[:size]...)
		text = text[size:]
	}
	return dst, text
}

// appendPlainASCII is appendPlain up to the first character outside ASCII. The
// runs of terminal output are short, a line or less, so it looks at eight bytes
// and copies them in one step: twice as fast as a scan and a copy.
func appendPlainASCII(dst, text []byte) (_, rest []byte) {
	for len(text) >= 8 {
		if cap(dst)-len(dst) < 8 {
			dst = slices.Grow(dst, len(text))
		}
		w := binary.LittleEndian.Uint64(text)
		n := len(dst)
		binary.LittleEndian.PutUint64(dst[n:n+8], w)
		quotes, slashes := w^ones*'"', w^ones*'\\'
		// x-n sets the high bit of a byte x < n, and may set that of bytes further
		// up by a borrow. So the lowest one that is set tells the truth.
		if special := (w | (w - ones*' ') | (quotes - ones) | (slashes - ones)) & highs; special != 0 {
			plain := bits.TrailingZeros64(special) / 8
			return dst[:n+plain], text[plain:]
		}
		dst, text = dst[:n+8], text[8:]
	}
	i := 0
	for i < len(text) && text[i] >= ' ' && text[i] < utf8.RuneSelf && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return append(dst, text[:i]...), text[i:]
}

// asciiPrefix returns how many of the first bytes of text are ASCII for certain.
func asciiPrefix(text []byte) int {
	i := 0
	for i+8 <= len(text) && binary.LittleEndian.Uint64(text[i:])&highs == 0 {
		i += 8
	}
	return i
}

// view returns the bytes of s, which must not be changed.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
