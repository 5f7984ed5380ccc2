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
	wide    int    // bytes of current after which there is nothing but ASCII
}

const bufferFactor = 3

// skip is skipUnits of the current text. Where that is ASCII it need not look.
func (t *slidingText) skip(units int) (int, error) {
	if t.wide == 0 && units <= len(t.current) {
		return units, nil
	}
	return skipUnits(t.current, units)
}

// slide drops the first from bytes and appends added.
func (t *slidingText) slide(from int, added string) {
	kept := t.current[from:]
	length := len(kept) + len(added)
	if t.wide = max(0, t.wide-from); !isASCII(added) {
		t.wide = length
	}
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
		t.current, t.ours, t.wide = s, false, len(s)
		if isASCII(s) {
			t.wide = 0
		}
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

// slide returns s without its first units, which have to be there, and with added.
func (sl *slider) slide(s string, units int, added string) (string, error) {
	if sl == nil || len(s)+len(added) < minSlide {
		from, err := skipUnits(s, units)
		if err != nil {
			return "", err
		}
		return s[from:] + added, nil
	}
	t := sl.find(s)
	from, err := t.skip(units)
	if err != nil {
		return "", err
	}
	t.slide(from, added)
	return t.current, nil
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
