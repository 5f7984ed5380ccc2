// Sliding texts: long strings that lose at the front and gain at the end.

package chord

import "strings"

// minSlide is the length in bytes from which a text gets a buffer. Below it a
// copy is as cheap.
const minSlide = 1 << 10

// maxSliding is how many texts of one document have a buffer.
const maxSliding = 4

// slider makes s[from:]+added without copying s each time. It remembers the
// buffers behind the strings it returned last; when such a string comes back, the
// addition is written behind it:
//
//	buffer: [ dropped | s[from:] | added | free ]
//
// A buffer only grows, so strings handed out before stay what they were, also
// for goroutines that still read them. One that is full is replaced by another of
// twice the text's length: O(1) amortised for each byte added. The price is up to
// three times a text's memory. A nil slider copies.
type slider struct {
	texts [maxSliding]sliding
	next  int // the one to give up next
}

type sliding struct {
	buffer  strings.Builder
	current string // a suffix of buffer.String()
}

func (sl *slider) slide(s string, from int, added string) string {
	if sl == nil || len(s)-from+len(added) < minSlide {
		return s[from:] + added
	}
	t := sl.find(s)
	if t == nil || t.buffer.Cap()-t.buffer.Len() < len(added) {
		if t == nil {
			t = &sl.texts[sl.next]
			sl.next = (sl.next + 1) % maxSliding
		}
		t.buffer.Reset()
		t.buffer.Grow(2 * (len(s) - from + len(added)))
		t.buffer.WriteString(s[from:])
		t.buffer.WriteString(added)
		t.current = t.buffer.String()
		return t.current
	}
	length := len(s) - from + len(added)
	t.buffer.WriteString(added)
	t.current = t.buffer.String()[t.buffer.Len()-length:]
	return t.current
}

// find returns the buffer that s ends. Comparing strings is comparing pointers
// when s is the one remembered, and no matter where s comes from when it is equal.
func (sl *slider) find(s string) *sliding {
	for i := range sl.texts {
		if t := &sl.texts[i]; t.current == s {
			return t
		}
	}
	return nil
}
