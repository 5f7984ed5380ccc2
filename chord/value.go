// Values written as JSON.

package chord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// errNesting is wrapped by what reports a value that is too deep or cyclic.
var errNesting = fmt.Errorf("value is nested more than %d deep", DefaultMaxNesting)

// appendValue appends v as JSON; depth is the number of containers around it.
// Plain JSON values and Go integers are written directly with sorted keys;
// everything else is left to encoding/json.
func appendValue(dst []byte, v any, depth int) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return appendQuoted(dst, view(v)), nil
	case float64:
		return appendFloat(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case []any:
		if v != nil {
			return appendArray(dst, v, depth)
		}
		return append(dst, "null"...), nil // as encoding/json has it
	case map[string]any:
		if v != nil {
			return appendObject(dst, v, depth)
		}
		return append(dst, "null"...), nil
	}
	return appendMarshaled(dst, v, depth)
}

func appendArray(dst []byte, items []any, depth int) (_ []byte, err error) {
	if depth >= DefaultMaxNesting {
		return dst, errNesting
	}
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendValue(dst, item, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, object map[string]any, depth int) (_ []byte, err error) {
	if depth >= DefaultMaxNesting {
		return dst, errNesting
	}
	dst = append(dst, '{')
	for i, key := range sortedKeys(object) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, view(key)), ':')
		if dst, err = appendValue(dst, object[key], depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func sortedKeys(object map[string]any) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

var errNotFinite = errors.New("JSON has no number for NaN and infinity")

// appendFloat writes the shortest decimal that reads back as f, in the notation
// of ECMAScript's Number::toString (ECMA-262, 6.1.6.1.20).
func appendFloat(dst []byte, f float64) ([]byte, error) {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(dst, int64(f), 10), nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, errNotFinite
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// strconv writes two digits of exponent at least, ECMAScript no zero first.
	if n := len(dst); dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst, nil
}

func appendMarshaled(dst []byte, v any, depth int) ([]byte, error) {
	raw, err := marshal(v)
	if err == nil {
		_, err = parse(raw, depth) // a marshaler can write what no decoder takes
	}
	if err != nil {
		return dst, err
	}
	return append(dst, raw...), nil
}

// marshal is json.Marshal that leaves <, > and & alone.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
