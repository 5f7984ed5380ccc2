// Paths: how an operation says which value of the document it is about.

package chord

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Segment is one step of a [Path]: the key of an object's property or the
// index of an array's element. Segments are comparable with ==. The zero
// Segment is Key("").
type Segment struct {
	key     string
	index   int
	isIndex bool
}

// Key is the segment that names the property key of an object. Key("0") and
// Index(0) are different segments: one never stands for the other.
func Key(key string) Segment { return Segment{key: key} }

// Index is the segment that names the element i of an array, counted from 0.
// A negative i makes a segment that every operation refuses.
func Index(i int) Segment { return Segment{index: i, isIndex: true} }

// Key returns the property key, and whether the segment is one.
func (s Segment) Key() (key string, ok bool) { return s.key, !s.isIndex }

// Index returns the array index, and whether the segment is one.
func (s Segment) Index() (i int, ok bool) { return s.index, s.isIndex }

// String returns the key in quotes or the index in digits.
func (s Segment) String() string {
	if s.isIndex {
		return strconv.Itoa(s.index)
	}
	return quote(s.key)
}

// reserved reports whether a JavaScript replica that assigned through s could
// reach a prototype instead of data.
func (s Segment) reserved() bool {
	return !s.isIndex && (s.key == "__proto__" || s.key == "constructor" || s.key == "prototype")
}

// Path leads from the root of a document to one of its values; the empty Path
// is the root. A Path given to this package may be kept by it, and one got from
// it may be shared between operations: do not modify either.
type Path []Segment

// P builds a path from strings (keys), ints (indices) and Segments, as in
// P("content", 0, "text"). It is meant for literals and panics on any other
// type and on a negative int.
func P(segs ...any) Path {
	path := make(Path, len(segs))
	for i, seg := range segs {
		switch seg := seg.(type) {
		case string:
			path[i] = Key(seg)
		case int:
			if seg < 0 {
				panic(fmt.Sprintf("chord: P: index %d is negative", seg))
			}
			path[i] = Index(seg)
		case Segment:
			path[i] = seg
		default:
			panic(fmt.Sprintf("chord: P: segment %d is a %T: want string, int or Segment", i, seg))
		}
	}
	return path
}

// String returns the path as a JavaScript programmer would write it:
// content[0].text, ["odd key"].x, and (root) for the empty path. It is for
// people; it is cut after about 200 bytes.
func (p Path) String() string {
	if len(p) == 0 {
		return "(root)"
	}
	var b strings.Builder
	for i, seg := range p {
		if b.Len() > maxQuoted {
			b.WriteString("…")
			break
		}
		switch {
		case seg.isIndex:
			b.WriteString("[" + strconv.Itoa(seg.index) + "]")
		case !isIdentifier(seg.key):
			b.WriteString("[" + quote(seg.key) + "]")
		case i > 0:
			b.WriteString("." + seg.key)
		default:
			b.WriteString(seg.key)
		}
	}
	return b.String()
}

// Equal reports whether both paths have the same segments.
func (p Path) Equal(other Path) bool { return slices.Equal(p, other) }

func isIdentifier(key string) bool {
	if key == "" || len(key) > maxQuoted {
		return false
	}
	for i := range len(key) {
		c := key[i]
		letter := c == '_' || c == '$' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// maxQuoted bounds foreign text in messages, in bytes.
const maxQuoted = 200

// quote puts foreign text in quotes and bounds it.
func quote(s string) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(s)
	}
	cut := maxQuoted
	for cut > maxQuoted-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "…"
}
