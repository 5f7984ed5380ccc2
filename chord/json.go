// JSON read from a peer: values and numbers, strictly by RFC 8259.

package chord

import (
	"bytes"
	"math"
	"strconv"
)

// parser reads JSON from data. The first error sticks: every method then returns
// a zero value, and the callers look at err where they would otherwise go on.
//
// It exists beside encoding/json because a batch is typed by verb and arity,
// which that could only find by parsing everything twice; and for speed on text.
type parser struct {
	data    []byte
	pos     int
	limits  Limits
	scratch []byte // for texts that have escapes
	borrow  bool   // appended texts may refer to data and scratch
	err     error
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
