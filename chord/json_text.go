// JSON strings read from a peer.

package chord

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string. What Go strings cannot hold as text, invalid UTF-8 and
// lone surrogates, is an error: a replacement would be a silent divergence.
func (p *parser) string() string {
	begun := len(p.scratch)
	s := string(p.quoted())
	p.scratch = p.scratch[:begun]
	return s
}

// quoted is string as bytes of data or at the end of scratch.
func (p *parser) quoted() []byte {
	p.expect('"')
	start := p.pos
	n := quotedLen(p.data[start:])
	raw := p.data[start : start+n]
	if start+n == len(p.data) {
		p.syntax(len(p.data), "string does not end")
		return nil
	}
	p.pos += n + 1
	if isPlainText(raw) {
		return raw
	}
	// Escapes make the text shorter than its JSON, most often by little.
	begun := len(p.scratch)
	p.scratch = slices.Grow(p.scratch, len(raw))
	for i := 0; i < len(raw) && p.err == nil; {
		end := len(p.scratch)
		out, in := unescape(p.scratch[end:cap(p.scratch)], raw[i:])
		p.scratch = p.scratch[:end+out]
		i += in
		for i < len(raw) && p.err == nil && (len(raw)-i < 8 || !isPlain(raw[i])) {
			i += p.char(raw[i:], start+i)
		}
	}
	return p.scratch[begun:]
}

// char appends to scratch what raw, which is at offset, begins with, and returns its
// length in raw.
func (p *parser) char(raw []byte, offset int) (size int) {
	c := raw[0]
	switch {
	case c == '\\':
		r, size, reason := escaped(raw)
		if reason != "" {
			p.syntax(offset, reason)
		}
		p.scratch = utf8.AppendRune(p.scratch, r)
		return size
	case c < ' ':
		p.syntax(offset, "control character in a string")
	case c < utf8.RuneSelf:
		p.scratch = append(p.scratch, c)
	default:
		r, size := utf8.DecodeRune(raw)
		if r == utf8.RuneError && size == 1 {
			p.syntax(offset, "invalid UTF-8 in a string")
		}
		p.scratch = append(p.scratch, raw[:size]...)
		return size
	}
	return 1
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

// isPlainText reports whether a JSON string holds all of text as it is, as ASCII.
func isPlainText(text []byte) bool {
	for ; len(text) >= 8; text = text[8:] {
		if specials(word(text)) != 0 {
			return false
		}
	}
	for _, c := range text {
		if !isPlain(c) {
			return false
		}
	}
	return true
}

// unescapeWords writes into dst what raw stands for as a JSON string, as long as that is
// ASCII with short escapes and there are eight bytes more in both. out bytes were
// written for the first in bytes. As escape does, it copies eight bytes and then looks
// how many of them it may keep.
func unescapeWords(dst, raw []byte) (out, in int) {
	for in+8 <= len(raw) && out+8 <= len(dst) {
		w := word(raw[in : in+8])
		binary.LittleEndian.PutUint64(dst[out:out+8], w)
		special := specials(w)
		if special == 0 {
			in, out = in+8, out+8
			continue
		}
		plain := bits.TrailingZeros64(special) / 8
		in, out = in+plain, out+plain
		if raw[in] != '\\' || in+1 >= len(raw) {
			break
		}
		c := unescaped[raw[in+1]]
		if c == 0 {
			break
		}
		dst[out] = c
		in, out = in+2, out+1
	}
	return out, in
}

// unescaped has the characters that a backslash and a letter stand for.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escaped returns the character that the escape sequence at the start of text, or a
// surrogate pair of two of them, stands for, and how long that is.
func escaped(text []byte) (r rune, size int, reason string) {
	if len(text) > 1 && unescaped[text[1]] != 0 {
		return rune(unescaped[text[1]]), 2, ""
	}
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
