package limits

// This file puts short pieces of text together, so that they are printed in one: between them are
// colours and other bytes that leave the cursor where it is.

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	// shortText is how much text is not worth printing by itself, bytes.
	shortText = 256
	// maxGathered is how much is gathered, bytes; what is taken last can be more.
	maxGathered = 4096
)

// gathering is text put together, and how it was found.
type gathering struct {
	raw        bool // as the terminal is
	buf        []byte
	size       int // of buf is text
	counts     counts
	repeatable bool // text came last
}

// gather prints in one piece what p begins with, of which c counts the first n bytes, all text:
// short pieces with silent bytes between them. It returns how much that was; nothing when what follows
// the n bytes is not silent.
func (t *terminal) gather(p []byte, n int, c counts) int {
	g := gathering{raw: t.raw, buf: t.gathered}
	if size, _ := g.silent(p[n:]); size == 0 {
		return 0
	}
	if g.buf == nil {
		g.buf = make([]byte, maxGathered+shortText+5*blockSize)
		t.gathered = g.buf
	}
	g.copy(p, n)
	g.counts = c
	for n < len(p) && g.size < maxGathered {
		more := g.blocks(p[n:])
		if more == 0 {
			more = g.piece(p[n:])
		}
		if more == 0 {
			break
		}
		n += more
	}
	if g.size > 0 {
		t.print(g.buf[:g.size], g.counts)
	}
	if !g.repeatable {
		t.last = 0
	}
	return n
}

// silent returns the size of what p begins with if it leaves the cursor where it is, or 0: a control
// that is removed, or a malformed sequence, which a replacement character stands for.
func (g *gathering) silent(p []byte) (size int, replaced bool) {
	switch b := p[0]; {
	case b >= utf8.RuneSelf:
		if _, size, v := classify(p); v == malformed {
			return size, true
		}
	case g.raw:
	case b == esc:
		return colour(p), false
	case b == '\r':
		if len(p) > 1 && p[1] == '\n' {
			return 1, false // the newline does it
		}
	case b != '\b' && b != 0x0E && b != 0x0F:
		return 1, false
	}
	return 0, false
}

// piece takes the silent bytes or the short text that p begins with and returns how much that was.
func (g *gathering) piece(p []byte) int {
	n, c := plainRun(p)
	switch {
	case n >= shortText:
		return 0
	case n == 0:
		return g.skip(p)
	}
	g.copy(p, n)
	g.counts.units += c.units
	g.counts.newlines += c.newlines
	return n
}

// skip takes silent bytes.
func (g *gathering) skip(p []byte) int {
	n, replaced := g.silent(p)
	if n > 0 {
		g.repeatable = replaced
	}
	if replaced {
		g.size += copy(g.buf[g.size:], replacementChar)
		g.counts.units++
	}
	return n
}

// copy takes n bytes of text from p. It copies in a size that is known when it can: one that is not
// costs more than what is copied too much.
func (g *gathering) copy(p []byte, n int) {
	if n == 0 {
		return
	}
	if buf := g.buf[g.size:]; n <= 32 && len(p) >= 32 && len(buf) >= 32 {
		a, b := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		c, d := binary.LittleEndian.Uint64(p[16:]), binary.LittleEndian.Uint64(p[24:])
		binary.LittleEndian.PutUint64(buf, a)
		binary.LittleEndian.PutUint64(buf[8:], b)
		binary.LittleEndian.PutUint64(buf[16:], c)
		binary.LittleEndian.PutUint64(buf[24:], d)
	} else {
		copy(buf, p[:n])
	}
	g.size += n
	g.repeatable = true
}

// blocks does what piece does for the beginning of p, as long as there are two blocks and the first is
// not all text. It looks at each byte once, and goes from one that is not plain to the next.
func (g *gathering) blocks(p []byte) int {
	n := 0
	for len(p)-n >= 2*blockSize && g.size < maxGathered {
		plain, newlines := plainMask(p[n:])
		if plain == ^uint64(0) {
			break
		}
		taken, ok := g.block(p[n:], ^plain)
		n += taken
		g.counts.newlines += bits.OnesCount64(newlines &^ (^uint64(0) << taken))
		if !ok {
			break
		}
	}
	return n
}

// block takes the first block of p, in which stops are the bytes that are not plain, and what of the next
// belongs to its last character or sequence. It reports whether it came to the end.
func (g *gathering) block(p []byte, stops uint64) (n int, ok bool) {
	from, end := 0, blockSize
	for stops != 0 {
		at := bits.TrailingZeros64(stops)
		stops &= stops - 1
		size := 0
		switch b := p[at]; {
		case b == esc && !g.raw:
			size = colour(p[at:])
			g.text(p[from:], at-from)
			g.repeatable = g.repeatable && size == 0
		case b >= utf8.RuneSelf:
			if size = multibyteSize(p[at:]); size > 0 {
				g.counts.units += 1 + size>>2 - size
				end = max(end, at+size)
				stops &= ^uint64(0) << (at + size)
				continue
			}
			fallthrough
		default:
			g.text(p[from:], at-from)
			size = g.skip(p[at:])
			stops &= ^uint64(0) << (at + size)
		}
		if from = at + size; size == 0 {
			return at, false
		}
	}
	if end = max(end, from); end > from {
		g.text(p[from:], end-from)
	}
	return end, true
}

// text is copy, of text that has a unit a byte but for what block has counted.
func (g *gathering) text(p []byte, n int) {
	g.copy(p, n)
	g.counts.units += n
}
