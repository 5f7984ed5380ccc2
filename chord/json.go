// JSON read from a peer: values, strings and numbers, strictly by RFC 8259.

package chord

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// parser reads JSON from data. The first error sticks: every method then returns
// a zero value, and the callers look at err where they would otherwise go on.
//
// It exists beside encoding/json because a batch is typed by verb and arity,
// which that could only find by parsing everything twice; and for speed on text.
type parser struct {
	data   []byte
	pos    int
	limits Limits
	err    error
}

// parse reads raw as one value within the default limits; depth is the number of
// containers it will stand in.
func parse(raw []byte, depth int) (any, error) {
	p := parser{data: raw, limits: Limits{}.withDefaults()}
	v := p.value(depth)
	if p.peek(); p.pos < len(p.data) {
		p.syntax(p.pos, "data after the value")
	}
	return v, p.err
}

// fail notes err, if it is one.
func (p *parser) fail(err error) {
	if p.err == nil && err != nil {
		p.err = err
		p.pos = len(p.data) // no byte matches from here on
	}
}

func (p *parser) syntax(offset int, reason string) {
	p.fail(&SyntaxError{Offset: offset, Reason: reason})
}

// peek skips white space and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; c {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return c
		}
	}
	return 0
}

// accept consumes c if it is the next byte.
func (p *parser) accept(c byte) bool {
	if p.peek() != c || p.pos >= len(p.data) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) expect(c byte) {
	if !p.accept(c) {
		p.syntax(p.pos, "expected '"+string(rune(c))+"'")
	}
}

// value reads any value; depth is the number of containers around it.
func (p *parser) value(depth int) any {
	switch c := p.peek(); {
	case c == '"':
		return p.string()
	case c == '{':
		return p.object(depth + 1)
	case c == '[':
		return p.array(depth + 1)
	case c == 't' && p.literal("true"):
		return true
	case c == 'f' && p.literal("false"):
		return false
	case c == 'n' && p.literal("null"):
		return nil
	case c == '-' || isDigit(c):
		return p.number()
	}
	p.syntax(p.pos, "expected a value")
	return nil
}

func (p *parser) literal(word string) bool {
	if !bytes.HasPrefix(p.data[p.pos:], []byte(word)) {
		return false
	}
	p.pos += len(word)
	return true
}

func (p *parser) object(depth int) map[string]any {
	object := map[string]any{}
	p.nest(depth)
	p.expect('{')
	if p.accept('}') {
		return object
	}
	for p.err == nil {
		if p.peek() != '"' {
			p.syntax(p.pos, "expected a key")
			break
		}
		key := p.string()
		p.expect(':')
		object[key] = p.value(depth)
		if p.accept('}') {
			break
		}
		p.expect(',')
	}
	return object
}

func (p *parser) array(depth int) []any {
	items := []any{}
	p.nest(depth)
	p.expect('[')
	if p.accept(']') {
		return items
	}
	for p.err == nil {
		items = append(items, p.value(depth))
		if p.accept(']') {
			break
		}
		p.expect(',')
	}
	return items
}

func (p *parser) nest(depth int) {
	if depth > p.limits.MaxNesting {
		p.fail(&LimitError{What: "containers around a value", Max: p.limits.MaxNesting})
	}
}

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
	var special uint64
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		special |= w | (w - ones*' ') // see plainASCII
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

// number reads a number as the float64 nearest to it.
func (p *parser) number() float64 {
	start := p.pos
	end, integer := scanNumber(p.data, start)
	if end == start {
		p.syntax(start, "expected a number")
		return 0
	}
	p.pos = end
	text := p.data[start:end]
	if integer && len(text) <= 15 && text[0] != '-' {
		var n int64
		for _, c := range text {
			n = n*10 + int64(c-'0')
		}
		return float64(n)
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		p.syntax(start, "number out of range")
		return 0
	}
	return f
}

// scanNumber returns the end of the number at start, or start, and whether it
// is written without fraction and exponent.
func scanNumber(data []byte, start int) (end int, integer bool) {
	i := start
	if i < len(data) && data[i] == '-' {
		i++
	}
	digits := scanDigits(data, i)
	if digits == i || data[i] == '0' && digits > i+1 {
		return start, false
	}
	i, integer = digits, true
	if i < len(data) && data[i] == '.' {
		digits = scanDigits(data, i+1)
		if digits == i+1 {
			return start, false
		}
		i, integer = digits, false
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		digits = scanDigits(data, i)
		if digits == i {
			return start, false
		}
		i, integer = digits, false
	}
	return i, integer
}

func scanDigits(data []byte, i int) int {
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// maxSafe is the largest integer that a JavaScript number counts exactly to,
// or the largest int where that is smaller.
const maxSafe = min(1<<53-1, math.MaxInt)

// count reads an integer that is not negative. ok is false, and nothing is an
// error yet, when the number is another one.
func (p *parser) count() (n int, ok bool) {
	if c := p.peek(); c != '-' && !isDigit(c) {
		return 0, false
	}
	f := p.number()
	if p.err != nil || f < 0 || f > maxSafe || f != math.Trunc(f) {
		return 0, false
	}
	return int(f), true
}
