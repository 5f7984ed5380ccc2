package limits

// This file finds plain text in raw bytes: the run that needs no interpretation at all.
// Everything else in the package is paid for only by the bytes this scan stops at.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// counts are what a piece of valid text adds to a position.
type counts struct {
	units    int // UTF-16 code units
	newlines int
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainRun returns the length of the longest prefix of p that is text as it stands: printable
// ASCII, newline, tab and complete UTF-8 sequences other than C1 controls.
func plainRun(p []byte) (n int, c counts) {
	for {
		a, newlines := asciiRun(p[n:])
		n += a
		c.units += a
		c.newlines += newlines
		if n == len(p) || p[n] < utf8.RuneSelf {
			return n, c
		}
		m, units := multibyteRun(p[n:])
		if m == 0 {
			return n, c
		}
		n += m
		c.units += units
	}
}

// multibyteRun returns the length of the longest prefix of p that is complete multi-byte
// characters other than C1 controls, with single ASCII characters between them.
func multibyteRun(p []byte) (n, units int) {
	for n < len(p) {
		if b := p[n]; b < utf8.RuneSelf {
			if b < 0x20 || b == 0x7F || n+1 < len(p) && p[n+1] < utf8.RuneSelf {
				return n, units
			}
			n++
			units++
			continue
		}
		size := multibyteSize(p[n:])
		if size == 0 {
			return n, units
		}
		n += size
		units += 1 + size>>2
	}
	return n, units
}

// multibyteSize returns the size of the character that p begins with, or 0 when it is none or
// a C1 control. The usual forms are told apart here, the few with a restricted second byte by
// the library.
func multibyteSize(p []byte) int {
	follows := func(i int) bool { return i < len(p) && p[i]&0xC0 == 0x80 }
	switch b := p[0]; {
	case b >= 0xC3 && b < 0xE0 && follows(1):
		return 2
	case b > 0xE0 && b < 0xF0 && b != 0xED && follows(1) && follows(2):
		return 3
	case (b > 0xF0 && b < 0xF4 || b == 0xF0 && len(p) > 1 && p[1] >= 0x90) && follows(1) && follows(2) && follows(3):
		return 4
	}
	if r, size := utf8.DecodeRune(p); size > 1 && !isC1(r) {
		return size
	}
	return 0
}

// asciiRunPortable is asciiRun in Go. It tests eight bytes at a time (the "haszero" family of
// Anderson's Bit Twiddling Hacks, in which the lowest byte found is exact), and once several
// lines were plain, blocks of them, which newlines do not stop.
func asciiRunPortable(p []byte) (n, newlines int) {
	blocksFrom := blockSize
	for n+8 <= len(p) {
		x := binary.LittleEndian.Uint64(p[n:])
		below := (x - 0x20*ones) & ^x
		del := ((x ^ 0x7F*ones) - ones)
		stop := (x | below | del) & highs
		if stop == 0 {
			n += 8
			continue
		}
		n += bits.TrailingZeros64(stop) / 8
		switch p[n] {
		case '\n':
			newlines++
			if n >= blocksFrom {
				m, more := plainBlocks(p[n+1:])
				n, newlines = n+m, newlines+more
				blocksFrom = n + 8*blockSize // what stopped it is near
			}
		case '\t':
		default:
			return n, newlines
		}
		n++
	}
	for ; n < len(p) && isPlainASCII(p[n]); n++ {
		if p[n] == '\n' {
			newlines++
		}
	}
	return n, newlines
}

// asciiRunFrom is asciiRun where the whole blocks of p have been looked at: as far as n, with so many
// newlines.
func asciiRunFrom(p []byte, n, newlines int) (int, int) {
	if len(p)-n >= blockSize {
		return n, newlines // something stopped it
	}
	more, moreNewlines := asciiRunPortable(p[n:])
	return n + more, newlines + moreNewlines
}

// blockSize is how many bytes are tested at a time where nothing stops.
const blockSize = 64

// plainBlocks returns the length of the longest prefix of p in whole blocks that is printable
// ASCII, newline and tab, and the newlines in it.
func plainBlocks(p []byte) (n, newlines int) {
	for ; n+blockSize <= len(p); n += blockSize {
		b := (*[blockSize]byte)(p[n:])
		plain := plainWord(b[0:]) & plainWord(b[8:]) & plainWord(b[16:]) & plainWord(b[24:]) &
			plainWord(b[32:]) & plainWord(b[40:]) & plainWord(b[48:]) & plainWord(b[56:])
		if plain&highs != highs {
			break
		}
	}
	return n, bytes.Count(p[:n], newline)
}

// plainWord has the high bit set in each of the first eight bytes of p that is printable ASCII,
// newline or tab. Its sums carry into no other byte.
func plainWord(p []byte) uint64 {
	x := binary.LittleEndian.Uint64(p)
	low := x &^ highs
	printable := (low + (0x80-0x20)*ones) &^ (low + ones) // 0x7F+1 has the bit
	blank := (low + (0x80-'\t')*ones) &^ (low + (0x80-'\n'-1)*ones)
	return (printable | blank) &^ x
}

// plainMaskPortable is plainMask in Go.
func plainMaskPortable(p []byte) (plain, newlines uint64) {
	b := (*[blockSize]byte)(p)
	for i := 0; i < blockSize; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:]) ^ '\n'*ones
		newline := ^((x &^ highs) + (0x80-1)*ones) &^ x & highs
		plain |= gatherHighs(plainWord(b[i:])&highs) << i
		newlines |= gatherHighs(newline) << i
	}
	return plain, newlines
}

// gatherHighs puts the high bits of the eight bytes of x together, the lowest first.
func gatherHighs(x uint64) uint64 { return x >> 7 * 0x0102040810204080 >> 56 }

func isPlainASCII(b byte) bool {
	return b >= 0x20 && b < 0x7F || b == '\n' || b == '\t'
}

func isC1(r rune) bool { return r >= 0x80 && r < 0xA0 }

// cellRun returns the length of the longest prefix of text that takes a cell a byte: ASCII but
// tabs.
func cellRun(p []byte) int {
	if len(p) >= blockSize {
		n, _ := asciiRun(p)
		if tab := bytes.IndexByte(p[:n], '\t'); tab >= 0 {
			return tab
		}
		return n
	}
	n := 0
	for ; n+8 <= len(p); n += 8 {
		x := binary.LittleEndian.Uint64(p[n:])
		tab := (x ^ '\t'*ones) - ones
		if (x|tab)&highs != 0 {
			break
		}
	}
	for n < len(p) && p[n] < utf8.RuneSelf && p[n] != '\t' {
		n++
	}
	return n
}

// units16 counts the UTF-16 code units of valid text: a character counts one at its first
// byte, two when that begins a sequence of four. A slice that begins inside a character
// counts that character as before it.
func units16(p []byte) int {
	n, i := len(p), 0
	for ; i+8 <= len(p); i += 8 {
		x := binary.LittleEndian.Uint64(p[i:])
		if x&highs == 0 {
			continue
		}
		following := x &^ (x << 1) & highs                      // 10xxxxxx
		leadsFour := x & (x << 1) & (x << 2) & (x << 3) & highs // 1111xxxx
		n += bits.OnesCount64(leadsFour) - bits.OnesCount64(following)
	}
	for _, b := range p[i:] {
		if b&0xC0 == 0x80 {
			n--
		} else if b >= 0xF0 {
			n++
		}
	}
	return n
}

// runeStart returns the first index at or after i that begins a character.
func runeStart(p []byte, i int) int {
	for i < len(p) && !utf8.RuneStart(p[i]) {
		i++
	}
	return i
}

// runeEnd returns the last index at or before i that ends a character.
func runeEnd(p []byte, i int) int {
	if i >= len(p) {
		return len(p)
	}
	for i > 0 && !utf8.RuneStart(p[i]) {
		i--
	}
	return i
}

type validity int

const (
	complete   validity = iota // a valid character
	incomplete                 // the beginning of one, and nothing after it
	malformed                  // a maximal subpart that cannot become one
)

// classify looks at the multi-byte sequence that p begins with. The size of a malformed one
// is that of the maximal subpart, which U+FFFD stands for once (Unicode 15, section 3.9,
// "U+FFFD Substitution of Maximal Subparts", as browsers decode).
func classify(p []byte) (r rune, size int, v validity) {
	r, size = utf8.DecodeRune(p)
	if r != utf8.RuneError || size > 1 {
		return r, size, complete
	}
	low, high, want := byte(0x80), byte(0xBF), 0
	switch b := p[0]; {
	case b >= 0xC2 && b <= 0xDF:
		want = 2
	case b >= 0xE0 && b <= 0xEF:
		want = 3
		if b == 0xE0 {
			low = 0xA0
		} else if b == 0xED {
			high = 0x9F
		}
	case b >= 0xF0 && b <= 0xF4:
		want = 4
		if b == 0xF0 {
			low = 0x90
		} else if b == 0xF4 {
			high = 0x8F
		}
	default:
		return utf8.RuneError, 1, malformed
	}
	for size = 1; size < len(p) && size < want; size++ {
		if p[size] < low || p[size] > high {
			return utf8.RuneError, size, malformed
		}
		low, high = 0x80, 0xBF
	}
	return utf8.RuneError, size, incomplete
}
