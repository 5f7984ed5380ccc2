// Text as JSON strings, written: minimal escapes, and eight bytes at a time
// where nothing needs one.

package chord

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// appendQuoted appends text as a JSON string. It escapes what JSON requires and
// nothing else, in the spelling of JavaScript's JSON.stringify, so that both
// write the same bytes. Invalid UTF-8 becomes U+FFFD, byte by byte.
func appendQuoted[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		plain := plainPrefix(text, i)
		dst = append(dst, text[i:plain]...)
		if i = plain; i == len(text) {
			break
		}
		if c := text[i]; c < utf8.RuneSelf {
			dst = appendEscaped(dst, c)
			i++
			continue
		}
		end := multibyteRun(text, i)
		dst = append(dst, text[i:end]...)
		if i = end; i < len(text) && text[i] >= utf8.RuneSelf {
			dst = append(dst, "\uFFFD"...)
			i++
		}
	}
	return append(dst, '"')
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

// load returns the eight bytes of s at i. The compiler makes one load of it.
func load[T string | []byte](s T, i int) uint64 {
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// plainPrefix returns the end of the longest run text[i:end] of ASCII that a
// JSON string holds as it is: no control character, quote or backslash.
func plainPrefix[T string | []byte](text T, i int) int {
	for ; i+8 <= len(text); i += 8 {
		w := load(text, i)
		quotes, slashes := w^ones*'"', w^ones*'\\'
		// x-n sets the high bit of a byte x < n. Where it does so for another
		// byte, by a borrow, there was one below; bytes from 0x80 on are w's.
		if (w|(w-ones*' ')|(quotes-ones)|(slashes-ones))&highs != 0 {
			break
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// multibyteRun returns the end of the longest run text[i:end] of valid
// characters outside ASCII.
func multibyteRun[T string | []byte](text T, i int) int {
	for i < len(text) && text[i] >= utf8.RuneSelf {
		size := runeSize(text, i)
		if size == 0 {
			break
		}
		i += size
	}
	return i
}

// runeSize returns the bytes of the valid character at text[i:], which is not
// ASCII, or 0.
func runeSize[T string | []byte](text T, i int) int {
	var char [utf8.UTFMax]byte
	n := copy(char[:], text[i:])
	r, size := utf8.DecodeRune(char[:n])
	if r == utf8.RuneError && size == 1 {
		return 0
	}
	return size
}
