// Sliding texts: long strings that lose at the front and gain at the end.

package chord

import "strings"

// slidingText is a string that changes at both ends without being copied each
// time. It is the end of a buffer that only grows:
//
//	buffer: [ dropped | current | free ]
//
// So strings handed out before stay what they were, also for goroutines that
// still read them, and a full buffer is replaced by another: O(1) amortised for
// each byte added, at the price of up to bufferFactor times the text's memory.
type slidingText struct {
	buffer  strings.Builder
	current string // a suffix of buffer.String(), or a string from elsewhere
	ours    bool   // the former
}

const bufferFactor = 3

// slide drops the first from bytes and appends added.
func (t *slidingText) slide(from int, added string) {
	kept := t.current[from:]
	length := len(kept) + len(added)
	if !t.ours || t.buffer.Cap()-t.buffer.Len() < len(added) {
		t.buffer.Reset()
		t.buffer.Grow(bufferFactor * length)
		t.buffer.WriteString(kept)
		t.ours = true
	}
	t.buffer.WriteString(added)
	t.current = t.buffer.String()[t.buffer.Len()-length:]
}

// set makes s the text. When it is the text already, the buffer stays in use:
// comparing is comparing pointers then, and when s has come from elsewhere but is
// equal, it is as good.
func (t *slidingText) set(s string) {
	if t.current != s {
		t.current, t.ours = s, false
	}
}

const (
	// maxSliding is how many texts of one replica have a buffer at a time.
	maxSliding = 4
	// minSlide is the length in bytes from which a text gets one. Below it a copy
	// is as cheap.
	minSlide = 1 << 10
)

// slider has the buffers of the texts of a replica that changed last, and finds
// them by the strings they made. A nil slider copies.
type slider struct {
	texts [maxSliding]slidingText
	next  int // the one to give up next
}

// slide returns s[from:]+added.
func (sl *slider) slide(s string, from int, added string) string {
	if sl == nil || len(s)-from+len(added) < minSlide {
		return s[from:] + added
	}
	t := sl.find(s)
	t.slide(from, added)
	return t.current
}

// find returns the text that is s.
func (sl *slider) find(s string) *slidingText {
	for i := range sl.texts {
		if t := &sl.texts[i]; t.current == s {
			return t
		}
	}
	t := &sl.texts[sl.next]
	sl.next = (sl.next + 1) % maxSliding
	t.set(s)
	return t
}
