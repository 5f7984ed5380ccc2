// Difference of two plain values, as operations.

package chord

import (
	"slices"
	"strings"
)

// differ collects the operations that turn one document into another.
type differ struct {
	path Path
	ops  []Op
}

// emit adds an operation on the current path.
func (d *differ) emit(op Op) {
	op.Path = slices.Clone(d.path)
	d.ops = append(d.ops, op)
}

// set adds the operation that replaces the current value by v.
func (d *differ) set(v any) {
	if len(d.path) == 0 {
		d.ops = append(d.ops, Op{Verb: Replace, Value: clone(v)})
		return
	}
	d.emit(Op{Verb: Set, Value: clone(v)})
}

func (d *differ) value(old, next any) {
	if len(d.path) == DefaultMaxPathDepth {
		if !equal(old, next) {
			d.set(next) // no path leads further down
		}
		return
	}
	switch next := next.(type) {
	case map[string]any:
		if old, ok := old.(map[string]any); ok && d.object(old, next) {
			return
		}
	case []any:
		if old, ok := old.([]any); ok {
			d.array(old, next)
			return
		}
	case string:
		if old, ok := old.(string); ok && len(d.path) > 0 {
			d.text(old, next)
			return
		}
	}
	if !equal(old, next) {
		d.set(next)
	}
}

// at compares the values at one segment below the current path.
func (d *differ) at(seg Segment, old, next any) {
	d.path = append(d.path, seg)
	d.value(old, next)
	d.path = d.path[:len(d.path)-1]
}

// object compares by key, in the order of the keys. It reports false, having
// done nothing, when the objects differ at a reserved key: no path may lead there.
func (d *differ) object(old, next map[string]any) bool {
	for _, key := range []string{"__proto__", "constructor", "prototype"} {
		before, had := old[key]
		after, has := next[key]
		if had != has || !equal(before, after) {
			return false
		}
	}
	for _, key := range sortedKeys(old) {
		if _, ok := next[key]; !ok {
			d.path = append(d.path, Key(key))
			d.emit(Op{Verb: Delete})
			d.path = d.path[:len(d.path)-1]
		}
	}
	for _, key := range sortedKeys(next) {
		before, ok := old[key]
		if ok {
			d.at(Key(key), before, next[key])
			continue
		}
		d.path = append(d.path, Key(key))
		d.set(next[key])
		d.path = d.path[:len(d.path)-1]
	}
	return true
}

// minOverlap is the overlap of two texts, in bytes, from which two operations are
// shorter than a set.
const minOverlap = 12

func (d *differ) text(old, next string) {
	if strings.HasPrefix(next, old) {
		if len(next) > len(old) {
			d.emit(Op{Verb: Append, Text: next[len(old):]})
		}
		return
	}
	kept := overlap(old, next)
	if kept < minOverlap {
		d.set(next)
		return
	}
	d.emit(Op{Verb: Truncate, Count: Units(old[:len(old)-kept])})
	if kept < len(next) {
		d.emit(Op{Verb: Append, Text: next[kept:]})
	}
}

// overlap returns the length of a suffix of old that is a prefix of next, the
// longest one unless the texts are so repetitive that looking for it would take
// long. Both are valid UTF-8, so the suffix begins at a character.
func overlap(old, next string) int {
	const (
		probe         = 32  // bytes of next searched for in old
		head          = 256 // bytes compared before the whole suffix is
		maxCandidates = 1024
		maxSuffixes   = 16
	)
	suffixes := 0
	from := max(0, len(old)-len(next))
	for candidates := 0; len(next) >= probe && candidates < maxCandidates && suffixes < maxSuffixes; candidates++ {
		i := strings.Index(old[from:], next[:probe])
		if i < 0 {
			break
		}
		from += i
		suffix := old[from:]
		if n := min(head, len(suffix)); suffix[:n] == next[:n] {
			if strings.HasPrefix(next, suffix) {
				return len(suffix)
			}
			suffixes++
		}
		from++
	}
	for n := min(probe-1, len(old), len(next)); n > 0; n-- {
		if strings.HasSuffix(old, next[:n]) {
			return n
		}
	}
	return 0
}
