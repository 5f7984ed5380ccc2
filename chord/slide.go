// Sliding texts: long strings that lose at the front and gain at the end.

package chord

import "slices"

// slidingText is a string that changes at both ends without being copied each
// time. It is the end of a buffer that only grows, and what was appended since the
// text was last looked at:
//
//	buffer: [ dropped | current | free ]   pending: [ string, string, … ]
//
// Strings handed out before stay what they were, also for goroutines that still
// read them: a full buffer is replaced by another if there are any, and used again
// if not. So a byte added costs O(1) amortised, at the price of up to bufferFactor
// times the text's memory. Of what slides through without ever being looked at,
// nothing is copied.
type slidingText struct {
	buffer  []byte
	current string // the end of buffer, or a string from elsewhere
	ours    bool   // the former
	lent    bool   // there are strings of buffer in other hands

	pending []string
	length  int // bytes, all in all
	wide    int // bytes after which there is nothing but ASCII
}

const (
	bufferFactor = 3
	// maxPending is how many strings wait to be copied at most.
	maxPending = 64
	// minPending is the length in bytes from which a string waits. To copy less is
	// as cheap, unless others wait already.
	minPending = 1 << 10
)

// skip is skipUnits of the text. Where that is ASCII it need not look.
func (t *slidingText) skip(units int) (int, error) {
	if t.wide == 0 && units <= t.length {
		return units, nil
	}
	return skipUnits(t.gathered(), units)
}

// slide drops the first from bytes and appends added.
func (t *slidingText) slide(from int, added string) {
	t.drop(from)
	if added == "" {
		return
	}
	t.length += len(added)
	if !isASCII(added) {
		t.wide = t.length
	}
	if t.pending = append(t.pending, added); len(t.pending) > maxPending || len(t.pending) == 1 && len(added) < minPending {
		t.gathered()
	}
}

// drop drops the first from bytes.
func (t *slidingText) drop(from int) {
	t.length -= from
	t.wide = max(0, t.wide-from)
	first := min(from, len(t.current))
	t.current = t.current[first:]
	from -= first
	gone := 0
	for from > 0 && len(t.pending[gone]) <= from {
		from -= len(t.pending[gone])
		gone++
	}
	t.pending = slices.Delete(t.pending, 0, gone)
	if from > 0 {
		t.pending[0] = t.pending[0][from:]
	}
}

// text returns the text, which the caller may keep.
func (t *slidingText) text() string {
	s := t.gathered()
	t.lent = true
	return s
}

// gathered returns the text as it is until the next change, with nothing pending.
func (t *slidingText) gathered() string {
	if len(t.pending) == 0 {
		return t.current
	}
	if !t.ours || cap(t.buffer)-len(t.buffer) < t.length-len(t.current) {
		t.makeRoom()
	}
	for _, s := range t.pending {
		t.buffer = append(t.buffer, s...)
	}
	clear(t.pending)
	t.pending = t.pending[:0]
	t.current = asString(t.buffer[len(t.buffer)-t.length:])
	return t.current
}

// makeRoom moves current to the front of a buffer that has room for what is pending.
func (t *slidingText) makeRoom() {
	again := t.ours && !t.lent && 2*t.length <= cap(t.buffer) && cap(t.buffer) <= 2*bufferFactor*t.length
	if !again {
		t.buffer = make([]byte, 0, bufferFactor*t.length)
		t.ours, t.lent = true, false
	}
	t.buffer = append(t.buffer[:0], t.current...)
}

// after returns the text without its first from bytes.
func (t *slidingText) after(from int) string {
	if len(t.pending) > 0 {
		last := t.pending[len(t.pending)-1]
		if before := t.length - len(last); from >= before {
			return last[from-before:]
		}
	}
	return t.text()[from:]
}

// set makes s the text. When it is the text already, the buffer stays in use:
// comparing is comparing pointers then, and when s has come from elsewhere but is
// equal, it is as good.
func (t *slidingText) set(s string) {
	if t.is(s) {
		return
	}
	clear(t.pending)
	*t = slidingText{current: s, pending: t.pending[:0], length: len(s), wide: len(s)}
	if isASCII(s) {
		t.wide = 0
	}
}

// is reports whether the text is s.
func (t *slidingText) is(s string) bool { return t.length == len(s) && t.gathered() == s }

const (
	// maxSliding is how many texts of one replica have a buffer at a time.
	maxSliding = 4
	// minSlide is the length in bytes from which a text gets one. Below it a copy
	// is as cheap.
	minSlide = 1 << 10
)

// slider has the texts of a document that changed last. Those that are live are
// ahead of the document, which has an old string at their paths until they are
// settled. The others are known by the string that they are. A nil slider has none,
// and never will.
type slider struct {
	texts [maxSliding]liveText
	next  int // the one to give up next
}

type liveText struct {
	slidingText
	path Path
	live bool
}

// find returns the live text at path, if there is one.
func (sl *slider) find(path Path) *slidingText {
	if sl == nil {
		return nil
	}
	for i := range sl.texts {
		if t := &sl.texts[i]; t.live && t.path.Equal(path) {
			return &t.slidingText
		}
	}
	return nil
}

// adopt makes s, the string that doc has at path, a live text.
func (sl *slider) adopt(doc *any, path Path, s string) *slidingText {
	chosen := &sl.texts[sl.next]
	for i := range sl.texts {
		if t := &sl.texts[i]; !t.live && t.is(s) {
			chosen = t
			break
		}
	}
	if chosen == &sl.texts[sl.next] {
		sl.next = (sl.next + 1) % maxSliding
	}
	chosen.settle(doc)
	chosen.set(s)
	chosen.path, chosen.live = path, true
	return &chosen.slidingText
}

// settle brings the live texts at and below path into doc.
func (sl *slider) settle(doc *any, path Path) {
	if sl == nil {
		return
	}
	for i := range sl.texts {
		if t := &sl.texts[i]; t.live && len(t.path) >= len(path) && t.path[:len(path)].Equal(path) {
			t.settle(doc)
		}
	}
}

func (t *liveText) settle(doc *any) {
	if !t.live {
		return
	}
	if at, ok := lookup(doc, t.path); ok {
		at.put(t.text())
	}
	t.path, t.live = nil, false
}
