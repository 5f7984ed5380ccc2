// Looking ahead: which form of a wire operation comes.

package chord

// first returns the first byte of the element after the next comma.
func (p *parser) first() byte {
	pos := p.pos
	p.accept(',')
	c := p.peek()
	p.pos = pos
	return c
}

// pathFirst reports whether the next element is a path or an id with another
// element after it.
func (p *parser) pathFirst() bool {
	pos := p.pos
	p.accept(',')
	path := false
	if c := p.peek(); c == '[' || isDigit(c) {
		p.skip()
		path = p.peek() == ','
	}
	p.pos = pos
	return path
}

// pathBeforeSplice reports whether a splice names a path: its arguments are not
// two numbers and an array.
func (p *parser) pathBeforeSplice() bool {
	pos := p.pos
	path := p.accept(',') && p.peek() == '['
	if !path {
		p.skip()
		p.accept(',')
		p.skip()
		path = p.accept(',') && isDigit(p.peek())
	}
	p.pos = pos
	return path
}

// skip moves over a value without checking it: whoever reads it later does.
func (p *parser) skip() {
	for depth := 0; ; {
		switch p.peek() {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '"':
			p.skipString()
		}
		if p.pos >= len(p.data) {
			return
		}
		p.pos++
		if depth <= 0 {
			break
		}
	}
	for p.pos < len(p.data) && !isDelimiter(p.data[p.pos]) {
		p.pos++ // the rest of a number or literal
	}
}

// skipString moves to the closing quote of a string.
func (p *parser) skipString() {
	for p.pos++; p.pos < len(p.data) && p.data[p.pos] != '"'; p.pos++ {
		if p.data[p.pos] == '\\' {
			p.pos++
		}
	}
}

func isDelimiter(c byte) bool {
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t'
}
