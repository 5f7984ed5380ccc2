// Random documents and changes of them.

package interop

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/execagent/execagent/chord"
)

var (
	randomKeys  = []string{"a", "b", "text", "items", "0", "1", "", "length", "odd key", "ключ", "😀"}
	randomRunes = []rune("aab \n\t\"\\\x1b\x7fé€\u2028\uFFFD😀𝄞")
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func randomText(r *rand.Rand, most int) string {
	runes := make([]rune, r.IntN(most+1))
	for i := range runes {
		runes[i] = pick(r, randomRunes)
	}
	return string(runes)
}

func randomValue(r *rand.Rand, depth int) any {
	kinds := 8
	if depth <= 0 {
		kinds = 6
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return r.IntN(1000) - 500
	case 3:
		return r.NormFloat64() * 1e20
	case 4, 5:
		return randomText(r, 12)
	case 6:
		items := make([]any, r.IntN(5))
		for i := range items {
			items[i] = randomValue(r, depth-1)
		}
		return items
	default:
		object := map[string]any{}
		for range r.IntN(5) {
			object[pick(r, randomKeys)] = randomValue(r, depth-1)
		}
		return object
	}
}

func randomRoot(r *rand.Rand) any {
	if r.IntN(8) == 0 {
		return []any{randomValue(r, 2), randomText(r, 9), randomValue(r, 3)}
	}
	return map[string]any{
		"text": randomText(r, 30), "items": []any{randomValue(r, 2), randomValue(r, 2)},
		"a": randomValue(r, 3), "b": map[string]any{"text": randomText(r, 9)},
	}
}

// mutate changes something in the document.
func mutate(t *testing.T, r *rand.Rand, d *chord.Document) {
	t.Helper()
	path, v := chord.Path{}, d.Value()
	for {
		next, at, ok := descend(r, v)
		if !ok {
			break
		}
		path, v = append(path, next), at
	}
	if err := change(r, d, path, v); err != nil {
		t.Fatalf("change at %v: %v", path, err)
	}
}

// descend chooses a member of v, or v itself.
func descend(r *rand.Rand, v any) (seg chord.Segment, at any, ok bool) {
	if r.IntN(5) == 0 {
		return seg, nil, false
	}
	switch v := v.(type) {
	case map[string]any:
		var keys []string
		for key := range v {
			keys = append(keys, key)
		}
		if len(keys) > 0 {
			slices.Sort(keys) // the seed alone decides
			key := pick(r, keys)
			return chord.Key(key), v[key], true
		}
	case []any:
		if len(v) > 0 {
			i := r.IntN(len(v))
			return chord.Index(i), v[i], true
		}
	}
	return seg, nil, false
}

func change(r *rand.Rand, d *chord.Document, path chord.Path, v any) error {
	switch v := v.(type) {
	case string:
		switch {
		case len(path) == 0 || r.IntN(6) == 0:
		case r.IntN(2) == 0:
			return d.Append(path, randomText(r, 9))
		default:
			head := v[:len(v)/2]
			for !utf8.ValidString(head) {
				head = head[:len(head)-1]
			}
			return d.Truncate(path, chord.Units(head))
		}
	case []any:
		switch r.IntN(4) {
		case 0:
			return d.Move(path, r.Perm(len(v)))
		case 1:
			return d.Splice(path, len(v), 0, randomValue(r, 2), randomValue(r, 1))
		case 2:
			at := r.IntN(len(v) + 1)
			return d.Splice(path, at, r.IntN(len(v)-at+1), randomValue(r, 2))
		}
	case map[string]any:
		key := chord.Key(pick(r, randomKeys))
		if r.IntN(3) == 0 {
			return d.Delete(append(path, key))
		}
		return d.Set(append(path, key), randomValue(r, 3))
	}
	if len(path) == 0 {
		return nil
	}
	return d.Set(path, randomValue(r, 2))
}
