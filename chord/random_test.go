// Random documents and changes, and an oracle that applies changes naively.

package chord

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf16"
)

// randomKeys include those that are easy to confuse with something else.
var randomKeys = []string{"a", "b", "text", "items", "0", "1", "", "length", "toString", "odd key", "ключ", "😀", "\x00\n\"\\"}

var reservedKeys = []string{"__proto__", "constructor", "prototype"}

var randomRunes = []rune("aab \n\t\"\\\x1b\x7fé€\u2028\uFFFD😀𝄞")

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func randomText(r *rand.Rand, max int) string {
	runes := make([]rune, r.IntN(max+1))
	for i := range runes {
		runes[i] = pick(r, randomRunes)
	}
	return string(runes)
}

// randomValue returns a plain value, with reserved keys inside now and then.
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
		return float64(r.IntN(1000) - 500)
	case 3:
		return r.NormFloat64() * 1e18
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
			key := pick(r, randomKeys)
			if r.IntN(30) == 0 {
				key = pick(r, reservedKeys)
			}
			object[key] = randomValue(r, depth-1)
		}
		return object
	}
}

// randomRoot returns an object or, seldom, an array.
func randomRoot(r *rand.Rand) any {
	if r.IntN(8) == 0 {
		return []any{randomValue(r, 3), randomText(r, 5), randomValue(r, 3)}
	}
	return map[string]any{
		"text": randomText(r, 30), "items": []any{randomValue(r, 2), randomValue(r, 2)},
		"a": randomValue(r, 3), "b": map[string]any{"text": randomText(r, 9)},
	}
}

// randomPath descends into doc and returns the path and the value there.
func randomPath(r *rand.Rand, doc any) (Path, any) {
	path := Path{}
	for r.IntN(4) > 0 {
		switch v := doc.(type) {
		case map[string]any:
			if len(v) == 0 {
				return path, doc
			}
			key := pick(r, sortedKeys(v))
			if Key(key).reserved() {
				return path, doc
			}
			path, doc = append(path, Key(key)), v[key]
		case []any:
			if len(v) == 0 {
				return path, doc
			}
			i := r.IntN(len(v))
			path, doc = append(path, Index(i)), v[i]
		default:
			return path, doc
		}
	}
	return path, doc
}

// randomOp returns an operation that can be applied to doc and is no Replace.
func randomOp(r *rand.Rand, doc any) Op {
	for {
		path, v := randomPath(r, doc)
		switch v := v.(type) {
		case string:
			if len(path) == 0 {
				continue
			}
			if r.IntN(2) == 0 {
				text := randomText(r, 8)
				if r.IntN(4) == 0 {
					text = strings.Repeat(text, 300) // which slides
				}
				return Op{Verb: Append, Path: path, Text: text}
			}
			if r.IntN(2) == 0 {
				return Op{Verb: Truncate, Path: path, Count: randomCut(r, v)}
			}
		case []any:
			switch r.IntN(5) {
			case 0:
				return Op{Verb: Move, Path: path, Perm: r.Perm(len(v))}
			case 1:
				return Op{Verb: Set, Path: append(path, Index(len(v))), Value: randomValue(r, 2)}
			case 2:
				return Op{Verb: Splice, Path: path, Index: len(v), Items: []any{randomValue(r, 2)}}
			case 3:
				at := r.IntN(len(v) + 1)
				items := make([]any, r.IntN(3))
				for i := range items {
					items[i] = randomValue(r, 2)
				}
				return Op{Verb: Splice, Path: path, Index: at, Remove: r.IntN(min(3, len(v)-at+1)), Items: items}
			}
		case map[string]any:
			key := Key(pick(r, randomKeys))
			if r.IntN(3) == 0 {
				return Op{Verb: Delete, Path: append(path, key)}
			}
			return Op{Verb: Set, Path: append(path, key), Value: randomValue(r, 3)}
		}
		if len(path) > 0 {
			return Op{Verb: Set, Path: path, Value: randomValue(r, 2)}
		}
	}
}

// randomCut returns a number of code units that splits no pair in s.
func randomCut(r *rand.Rand, s string) int {
	runes := []rune(s)
	return len(utf16.Encode(runes[:r.IntN(len(runes)+1)]))
}

// oracle returns what doc is after op, which can be applied. It copies everything
// and shares no code with the package beyond Op and Path.
func oracle(doc any, op Op) any {
	if op.Verb == Replace {
		return op.Value
	}
	return oracleAt(doc, op.Path, func(v any) any {
		switch op.Verb {
		case Set:
			return op.Value
		case Append:
			return v.(string) + op.Text
		case Truncate:
			return string(utf16.Decode(utf16.Encode([]rune(v.(string)))[op.Count:]))
		case Splice:
			old := v.([]any)
			return slices.Concat([]any{nil}, old[:op.Index], op.Items, old[op.Index+op.Remove:])[1:]
		case Move:
			old := v.([]any)
			moved := []any{}
			for _, from := range op.Perm {
				moved = append(moved, old[from])
			}
			return moved
		case Delete:
			return deleted{}
		}
		panic(fmt.Sprintf("no such verb: %v", op.Verb))
	})
}

type deleted struct{}

func oracleAt(doc any, path Path, change func(any) any) any {
	if len(path) == 0 {
		return change(doc)
	}
	if i, ok := path[0].Index(); ok {
		old := doc.([]any)
		if i == len(old) {
			return append(slices.Clone(old), oracleAt(nil, path[1:], change))
		}
		items := slices.Clone(old)
		items[i] = oracleAt(old[i], path[1:], change)
		return items
	}
	key, _ := path[0].Key()
	object := map[string]any{}
	for k, v := range doc.(map[string]any) {
		object[k] = v
	}
	object[key] = oracleAt(object[key], path[1:], change)
	if object[key] == (deleted{}) {
		delete(object, key)
	}
	return object
}
