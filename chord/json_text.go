// JSON strings read from a peer.

package chord

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string. What Go strings cannot hold as text, invalid UTF-8 and
// lone surrogates, is an error: a replacement would be a silent divergence.
func (p *parser) string() string {
	p.expect('"')
	start := p.pos
	n := quotedLen(p.data[start:])
	raw := p.data[start : start+n]
	if start+n == len(p.data) {
		p.syntax(len(p.data), "string does not end")
		return ""
	}
	p.pos += n + 1
	if !isPrintableASCII(raw) {
		p.checkText(raw, start)
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	return p.unescape(raw, start)
}

// quotedLen returns the length of text up to the quote that ends it as a string,
// or up to its end.
func quotedLen(text []byte) int {
	for i := 0; ; i++ {
		next := bytes.IndexByte(text[i:], '"')
		if next < 0 {
			return len(text)
		}
		i += next
		slashes := 0
		for slashes < i && text[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// isPrintableASCII reports whether no byte is a control character or outside ASCII.
func isPrintableASCII(text []byte) bool {
	i := 0
	var special uint64 // see specials
	for ; len(text)-i >= 64; i += 64 {
		b := (*[64]byte)(text[i:])
		w0, w1, w2, w3 := word(b[0:]), word(b[8:]), word(b[16:]), word(b[24:])
		w4, w5, w6, w7 := word(b[32:]), word(b[40:]), word(b[48:]), word(b[56:])
		special |= w0 | w1 | w2 | w3 | w4 | w5 | w6 | w7 |
			(w0 - ones*' ') | (w1 - ones*' ') | (w2 - ones*' ') | (w3 - ones*' ') |
			(w4 - ones*' ') | (w5 - ones*' ') | (w6 - ones*' ') | (w7 - ones*' ')
	}
	for ; i+8 <= len(text); i += 8 {
		w := word(text[i:])
		special |= w | (w - ones*' ')
	}
	for ; i < len(text); i++ {
		special |= uint64(text[i] | (text[i] - ' '))
	}
	return special&highs == 0
}

// checkText finds what a string must not hold as it is. The string begins at start.
func (p *parser) checkText(raw []byte, start int) {
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		switch {
		case r < ' ':
			p.syntax(start+i, "control character in a string")
		case r == utf8.RuneError && size == 1:
			p.syntax(start+i, "invalid UTF-8 in a string")
		}
		i += size
	}
}

// unescape returns what raw, which begins at start, stands for.
func (p *parser) unescape(raw []byte, start int) string {
	// A Builder, because it does not clear what it is about to fill. Escapes make
	// the text shorter than its JSON, most often by little.
	var text strings.Builder
	text.Grow(len(raw))
	for i := 0; ; {
		plain := bytes.IndexByte(raw[i:], '\\')
		if plain < 0 {
			text.Write(raw[i:])
			return compact(&text)
		}
		text.Write(raw[i : i+plain])
		i += plain
		if c := unescaped[raw[i+1]]; c != 0 { // there is one: no quote has a slash before it
			text.WriteByte(c)
			i += 2
			continue
		}
		r, size, reason := unicodeEscape(raw[i:])
		if reason != "" {
			p.syntax(start+i, reason)
			return ""
		}
		text.WriteRune(r)
		i += size
	}
}

// compact returns the text in memory of its own size, unless little is unused.
func compact(text *strings.Builder) string {
	if text.Cap()-text.Len() > text.Len()/4 {
		return strings.Clone(text.String())
	}
	return text.String()
}

// unescaped has the characters that a backslash and a letter stand for.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unicodeEscape returns the character that \uXXXX at the start of text, or a
// surrogate pair of two of them, stands for, and how long that is.
func unicodeEscape(text []byte) (r rune, size int, reason string) {
	r, ok := hex4(text)
	if !ok {
		return 0, 0, "unknown escape sequence"
	}
	if !utf16.IsSurrogate(r) {
		return r, 6, ""
	}
	low, _ := hex4(text[6:])
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0, "lone surrogate in a string"
	}
	return r, 12, ""
}

// hex4 reads \uXXXX at the start of text.
func hex4(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
