// Plain JSON values: made from other Go values, copied, compared.

package chord

import (
	"math"
	"unicode/utf8"
)

// Plain returns v as the plain JSON value it stands for, made of nil, bool,
// float64, string, []any and map[string]any and sharing no container with v.
// Values of other types become what encoding/json makes of them. Text is made
// valid UTF-8, each invalid byte becoming U+FFFD. The error is a [*ValueError].
func Plain(v any) (any, error) {
	p, err := plain(v, 0)
	if err != nil {
		return nil, &ValueError{Cause: err}
	}
	return p, nil
}

func plain(v any, depth int) (any, error) {
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case string:
		return validText(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errNotFinite
		}
		return v, nil
	case int:
		return float64(v), nil
	case []any:
		return plainArray(v, depth)
	case map[string]any:
		return plainObject(v, depth)
	}
	raw, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return parse(raw, depth)
}

func plainArray(items []any, depth int) (any, error) {
	if depth >= DefaultMaxNesting {
		return nil, errNesting
	}
	if items == nil {
		return nil, nil
	}
	copied := make([]any, len(items))
	for i, item := range items {
		var err error
		if copied[i], err = plain(item, depth+1); err != nil {
			return nil, err
		}
	}
	return copied, nil
}

func plainObject(object map[string]any, depth int) (any, error) {
	if depth >= DefaultMaxNesting {
		return nil, errNesting
	}
	if object == nil {
		return nil, nil
	}
	copied := make(map[string]any, len(object))
	for key, v := range object {
		p, err := plain(v, depth+1)
		if err != nil {
			return nil, err
		}
		copied[validText(key)] = p
	}
	return copied, nil
}

// validText is what a replica will hold for s.
func validText(s string) string {
	if isASCII(s) || utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// clone copies the containers of a plain value.
func clone(v any) any {
	switch v := v.(type) {
	case []any:
		return cloneItems(v)
	case map[string]any:
		copied := make(map[string]any, len(v))
		for key, member := range v {
			copied[key] = clone(member)
		}
		return copied
	}
	return v
}

func cloneItems(items []any) []any {
	copied := make([]any, len(items))
	for i, item := range items {
		copied[i] = clone(item)
	}
	return copied
}

// equal reports whether two plain values are the same JSON value.
func equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, v := range a {
			w, ok := b[key]
			if !ok || !equal(v, w) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case []any, map[string]any:
		return false // not comparable with ==
	}
	return a == b
}
