// Plain values: what Go values become, and that nothing is shared.

package chord

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPlain(t *testing.T) {
	type inner struct {
		Text string `json:"text"`
	}
	for _, c := range []struct {
		name     string
		in, want any
	}{
		{"null", nil, nil},
		{"nil map", map[string]any(nil), nil},
		{"nil slice", []any(nil), nil},
		{"nil pointer", (*inner)(nil), nil},
		{"boolean", true, true},
		{"int", 7, 7.0},
		{"uint8", uint8(7), 7.0},
		{"float32", float32(0.5), 0.5},
		{"number", json.Number("1e3"), 1000.0},
		{"large integer", int64(1)<<53 + 1, float64(1 << 53)},
		{"text", "<é>", "<é>"},
		{"invalid text", "a\xffb\xed\xa0\x80", "a\uFFFDb\uFFFD\uFFFD\uFFFD"},
		{"invalid text inside", []any{map[string]any{"k\xff": "v\xff"}}, []any{map[string]any{"k\uFFFD": "v\uFFFD"}}},
		{"struct", inner{Text: "<x>\xff"}, map[string]any{"text": "<x>\uFFFD"}},
		{"typed containers", map[string][]int{"a": {1, 2}, "b": nil}, map[string]any{"a": []any{1.0, 2.0}, "b": nil}},
		{"bytes", []byte("hi"), "aGk="},
		{"marshaler", time.Unix(0, 0).UTC(), "1970-01-01T00:00:00Z"},
		{"mixed", []any{1, inner{}, map[string]any{"x": int8(3)}}, []any{1.0, map[string]any{"text": ""}, map[string]any{"x": 3.0}}},
	} {
		got, err := Plain(c.in)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
		// The encoder, given the same, writes what a replica reads as the same.
		wire, err := new(Encoder).Encode(nil, []Op{{Verb: Replace, Value: c.in}})
		if err != nil {
			t.Fatalf("%s: Encode: %v", c.name, err)
		}
		ops, err := new(Decoder).Decode(nil, wire)
		if err != nil {
			t.Fatalf("%s: Decode(%s): %v", c.name, wire, err)
		}
		if diff := cmp.Diff(c.want, ops[0].Value); diff != "" {
			t.Errorf("%s: by way of %s (-want +got):\n%s", c.name, wire, diff)
		}
	}
}

func TestPlainRefuses(t *testing.T) {
	cyclicMap := map[string]any{}
	cyclicMap["x"] = cyclicMap
	cyclicSlice := []any{nil}
	cyclicSlice[0] = cyclicSlice
	for name, in := range map[string]any{
		"NaN": math.NaN(), "infinity": []any{math.Inf(-1)}, "function": func() {}, "channel": map[string]any{"c": make(chan int)},
		"complex": 1i, "cyclic map": cyclicMap, "cyclic slice": cyclicSlice, "huge number": json.Number("1e999"),
		"lone surrogate": json.RawMessage(`"\ud800"`), "typed float": []float64{math.NaN()},
	} {
		if got, err := Plain(in); errorType(&BatchError{Cause: err}) != "ValueError" {
			t.Errorf("%s: %v, %v, want a ValueError", name, got, err)
		}
		if got, err := new(Encoder).Encode(nil, []Op{{Verb: Replace, Value: in}}); errorType(err) != "ValueError" {
			t.Errorf("%s: encoded as %s, %v, want a ValueError", name, got, err)
		}
	}
}

func TestPlainCopies(t *testing.T) {
	in := map[string]any{"a": []any{1.0}}
	got, err := Plain(in)
	must(err)
	in["a"].([]any)[0] = 2.0
	if diff := cmp.Diff(any(map[string]any{"a": []any{1.0}}), got); diff != "" {
		t.Errorf("changed with its original:\n%s", diff)
	}
}
