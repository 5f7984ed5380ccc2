// The batch writer: its bytes, its table of paths, its errors and theirs.

package chord

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestBatch has every method once, and the bytes they make.
func TestBatch(t *testing.T) {
	a, b := P("a"), P("b", 0)
	for _, c := range []struct {
		name  string
		write func(w *Batch)
		want  string
		ops   int
	}{
		{"nothing", func(w *Batch) {}, `[]`, 0},
		{"replace", func(w *Batch) { w.Replace(map[string]any{"b": []any{1, nil}, "a": "<&>"}) }, `[["r",{"a":"<&>","b":[1,null]}]]`, 1},
		{"replace by a struct", func(w *Batch) {
			w.Replace(struct {
				A string `json:"a"`
			}{"<&>"})
		}, `[["r",{"a":"<&>"}]]`, 1},
		{"replace by JSON", func(w *Batch) { w.ReplaceJSON([]byte(` {"a" : 1}`)) }, `[["r", {"a" : 1}]]`, 1},
		{"set", func(w *Batch) { w.Set(a, []any{}); w.Set(b, map[string]any(nil)) }, `[["s",["a"],[]],["s",["b",0],null]]`, 2},
		{"set of a time", func(w *Batch) { w.Set(a, json.RawMessage(`[1, 2]`)) }, `[["s",["a"],[1,2]]]`, 1},
		{"set a string", func(w *Batch) { w.SetString(a, []byte("x\n\x1b\"\\\u2028é😀\xff")) }, `[["s",["a"],"x\n\u001b\"\\` + "\u2028é😀\uFFFD" + `"]]`, 1},
		{"set numbers", func(w *Batch) { w.SetInt(a, -1<<63); w.Set(a, 1e21); w.Set(a, 0.1) }, `[["s",["a"],-9223372036854775808],["s",1e+21],["s",0.1]]`, 3},
		{"set booleans and null", func(w *Batch) { w.SetBool(a, true); w.SetBool(a, false); w.SetNull(a) }, `[["s",["a"],true],["s",false],["s",null]]`, 3},
		{"delete", func(w *Batch) { w.Delete(a); w.Delete(a) }, `[["d",["a"]],["d"]]`, 2},
		{"append", func(w *Batch) { w.AppendText(a, nil); w.AppendText(a, []byte("x")) }, `[["a",["a"],""],["a","x"]]`, 2},
		{"truncate", func(w *Batch) { w.Truncate(a, 0); w.Truncate(a, 12) }, `[["t",["a"],0],["t",12]]`, 2},
		{"splice", func(w *Batch) { w.Splice(P(), 1, 2); w.Splice(P(), 0, 0, "x", []any{}) }, `[["p",[],1,2,[]],["p",0,0,["x",[]]]]`, 2},
		{"move", func(w *Batch) { w.Move(a, []int{2, 0, 1}); w.Move(a, nil) }, `[["m",["a"],[2,0,1]],["m",[]]]`, 2},
		{"paths in turn", func(w *Batch) {
			for range 3 {
				w.SetInt(a, 1)
				w.SetInt(b, 2)
			}
		}, `[["s",["a"],1],["s",["b",0],2],["#",0,["a"]],["s",0,1],["#",1,["b",0]],["s",1,2],["s",0,1],["s",1,2]]`, 6},
		{"an index and a key of digits", func(w *Batch) { w.SetInt(P("x", 0), 1); w.SetInt(P("x", "0"), 1) }, `[["s",["x",0],1],["s",["x","0"],1]]`, 2},
		{"the path before a replace is none", func(w *Batch) { w.Replace(nil); w.SetInt(a, 1); w.SetInt(a, 2) }, `[["r",null],["s",["a"],1],["s",2]]`, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var enc Encoder
			w := enc.Begin([]byte("kept"))
			c.write(w)
			ops := w.Len()
			got, err := w.End()
			if err != nil || string(got) != "kept"+c.want || ops != c.ops {
				t.Errorf("got  %s, %d operations, %v\nwant kept%s, %d", got, ops, err, c.want, c.ops)
			}
			if err := ValidateWire([]byte(c.want)); err != nil {
				t.Errorf("ValidateWire(%s): %v", c.want, err)
			}
		})
	}
}

// TestInterning: a definition at the second explicit use, which an omitted path is
// not; everything forgotten at a replace.
func TestInterning(t *testing.T) {
	var enc Encoder
	for i, c := range []struct {
		ops  []Op
		want string
	}{
		{[]Op{{Verb: Truncate, Path: P("x"), Count: 1}, {Verb: Append, Path: P("x"), Text: "1"}}, `[["t",["x"],1],["a","1"]]`},
		{[]Op{{Verb: Append, Path: P("x"), Text: "2"}, {Verb: Append, Path: P("x"), Text: "3"}}, `[["#",0,["x"]],["a",0,"2"],["a","3"]]`},
		{[]Op{{Verb: Append, Path: P("x"), Text: "4"}}, `[["a",0,"4"]]`},
		{[]Op{{Verb: Replace, Value: 1}}, `[["r",1]]`},
		{[]Op{{Verb: Append, Path: P("x"), Text: "5"}}, `[["a",["x"],"5"]]`},
		{[]Op{{Verb: Append, Path: P("x"), Text: "6"}}, `[["#",0,["x"]],["a",0,"6"]]`},
	} {
		got, err := enc.Encode(nil, c.ops)
		if err != nil || string(got) != c.want {
			t.Errorf("batch %d: got %s, %v, want %s", i, got, err, c.want)
		}
	}
}

// TestInterningIsBounded: beyond the decoder's default the encoder defines no more.
func TestInterningIsBounded(t *testing.T) {
	var enc Encoder
	var dec Decoder
	var wire []byte
	for range 3 {
		for i := range DefaultMaxPaths + 10 {
			var err error
			if wire, err = enc.Encode(wire[:0], []Op{{Verb: Delete, Path: P(fmt.Sprint(i))}}); err != nil {
				t.Fatal(err)
			}
			if _, err := dec.Decode(nil, wire); err != nil {
				t.Fatalf("path %d: %v", i, err)
			}
		}
	}
	if want := fmt.Sprintf(`[["d",["%d"]]]`, DefaultMaxPaths+9); string(wire) != want {
		t.Errorf("the last path: got %s, want %s", wire, want)
	}
	if len(enc.paths.ids) != DefaultMaxPaths {
		t.Errorf("the encoder remembers %d paths, want %d", len(enc.paths.ids), DefaultMaxPaths)
	}
}

func TestBatchErrors(t *testing.T) {
	cyclic := []any{nil}
	cyclic[0] = cyclic
	deep := strings.Repeat("a", DefaultMaxPathDepth+1)
	for _, c := range []struct {
		name  string
		write func(w *Batch)
		want  string
	}{
		{"a replace in the middle", func(w *Batch) { w.SetInt(P("a"), 1); w.Replace(1) }, "ShapeError"},
		{"a replace by JSON in the middle", func(w *Batch) { w.SetInt(P("a"), 1); w.ReplaceJSON([]byte("1")) }, "ShapeError"},
		{"no JSON", func(w *Batch) { w.ReplaceJSON([]byte("{")) }, "ValueError"},
		{"two values", func(w *Batch) { w.ReplaceJSON([]byte("1 2")) }, "ValueError"},
		{"JSON that is not UTF-8", func(w *Batch) { w.ReplaceJSON([]byte("\"\xff\"")) }, "ValueError"},
		{"JSON with a lone surrogate", func(w *Batch) { w.ReplaceJSON([]byte(`"\ud83d"`)) }, "ValueError"},
		{"a marshaler with a lone surrogate", func(w *Batch) { w.Set(P("a"), json.RawMessage(`"\ud83d"`)) }, "ValueError"},
		{"JSON too deep", func(w *Batch) { w.ReplaceJSON(nested(DefaultMaxNesting + 1)) }, "ValueError"},
		{"a marshaler too deep", func(w *Batch) { w.Set(P("a"), []any{json.RawMessage(nested(DefaultMaxNesting))}) }, "ValueError"},
		{"the root set", func(w *Batch) { w.Set(P(), 1) }, "ShapeError"},
		{"the root appended to", func(w *Batch) { w.AppendText(nil, nil) }, "ShapeError"},
		{"a reserved key", func(w *Batch) { w.SetNull(P("a", "prototype")) }, "UnsafePathError"},
		{"a path too long", func(w *Batch) { w.Delete(P(anySlice(strings.Split(deep, ""))...)) }, "ShapeError"},
		{"a negative count", func(w *Batch) { w.Truncate(P("a"), -1) }, "ShapeError"},
		{"a negative index", func(w *Batch) { w.Splice(P("a"), -1, 0) }, "ShapeError"},
		{"a negative removal", func(w *Batch) { w.Splice(P("a"), 0, -1) }, "ShapeError"},
		{"no permutation", func(w *Batch) { w.Move(P("a"), []int{0, 2}) }, "ShapeError"},
		{"no verb", func(w *Batch) { w.Add(&Op{}) }, "ShapeError"},
		{"a definition", func(w *Batch) { w.Add(&Op{Verb: '#', Path: P("a")}) }, "ShapeError"},
		{"not a number", func(w *Batch) { w.Set(P("a"), math.NaN()) }, "ValueError"},
		{"infinity inside", func(w *Batch) { w.Replace([]any{math.Inf(1)}) }, "ValueError"},
		{"a channel", func(w *Batch) { w.Set(P("a"), make(chan int)) }, "ValueError"},
		{"a cycle", func(w *Batch) { w.Set(P("a"), cyclic) }, "ValueError"},
		{"a function as item", func(w *Batch) { w.Splice(P("a"), 0, 0, func() {}) }, "ValueError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var enc Encoder
			w := enc.Begin([]byte("kept"))
			c.write(w)
			w.SetInt(P("b"), 1) // has no effect any more
			got, err := w.End()
			if string(got) != "kept" || errorType(err) != c.want {
				t.Errorf("got %q, %v, want kept and a %s", got, err, c.want)
			}
			for _, ops := range [][]Op{{{Verb: Delete, Path: P("a")}}, nil} {
				if got, err := enc.Encode(nil, ops); err != ErrNeedBase {
					t.Errorf("%d operations afterwards: got %s, %v, want %v", len(ops), got, err, ErrNeedBase)
				}
			}
			got, err = enc.Encode(nil, []Op{{Verb: Replace}, {Verb: Delete, Path: P("b")}})
			if want := `[["r",null],["d",["b"]]]`; err != nil || string(got) != want {
				t.Errorf("base batch afterwards: got %s, %v, want %s", got, err, want)
			}
		})
	}
}

// nested is n arrays in each other, with brackets in a string that do not count.
func nested(n int) []byte {
	return []byte(strings.Repeat("[", n) + `"[\"["` + strings.Repeat("]", n))
}

// TestDeepest: what the encoder lets through, the decoder takes.
func TestDeepest(t *testing.T) {
	for _, op := range []Op{
		{Verb: Replace, Value: json.RawMessage(nested(DefaultMaxNesting))},
		{Verb: Set, Path: P("a"), Value: []any{json.RawMessage(nested(DefaultMaxNesting - 1))}},
		{Verb: Splice, Items: []any{json.RawMessage(nested(DefaultMaxNesting - 1))}},
	} {
		wire, err := new(Encoder).Encode(nil, []Op{op})
		if err != nil {
			t.Errorf("%v: Encode: %v", op.Verb, err)
		}
		if _, err := new(Decoder).Decode(nil, wire); err != nil {
			t.Errorf("%v: Decode: %v", op.Verb, err)
		}
	}
}

func anySlice(keys []string) []any {
	segs := make([]any, len(keys))
	for i, key := range keys {
		segs[i] = key
	}
	return segs
}

// TestBatchMisuse: a batch that has ended, and one that is not ended, do not make
// what the other end cannot follow.
func TestBatchMisuse(t *testing.T) {
	var enc Encoder
	w := enc.Begin(nil)
	w.SetInt(P("a"), 1)
	if _, err := w.End(); err != nil {
		t.Fatal(err)
	}
	w.SetInt(P("a"), 2)
	if got, err := w.End(); got != nil || err == nil {
		t.Errorf("ending twice: %s, %v", got, err)
	}
	got, err := enc.Encode(nil, []Op{{Verb: Delete, Path: P("a")}})
	if want := `[["#",0,["a"]],["d",0]]`; err != nil || string(got) != want {
		t.Errorf("after ending twice: got %s, %v, want %s", got, err, want)
	}
	enc.Begin(nil)
	if _, err := enc.Encode(nil, nil); err != nil {
		t.Errorf("after beginning twice without an operation: %v", err)
	}
	enc.Begin(nil).SetInt(P("b"), 1)
	if got, err := enc.Encode(nil, []Op{{Verb: Delete, Path: P("b")}}); !errors.Is(err, ErrNeedBase) {
		t.Errorf("after giving up a batch: got %s, %v, want %v", got, err, ErrNeedBase)
	}
}

func TestBatchAllocates(t *testing.T) {
	var enc Encoder
	var wire []byte
	text, total, state := P("content", 0, "text"), P("truncation", "totalBytes"), P("état")
	line := []byte(strings.Repeat("some output\n", 20))
	batch := func() {
		w := enc.Begin(wire[:0])
		w.Truncate(text, 20)
		w.AppendText(text, line)
		w.SetInt(total, 123456)
		w.SetString(state, line[:7])
		w.SetBool(state, true)
		w.SetNull(state)
		w.Delete(state)
		w.Splice(text, 0, 1)
		w.Move(text, []int{1, 0})
		var err error
		if wire, err = w.End(); err != nil {
			t.Fatal(err)
		}
	}
	batch()
	if got := testing.AllocsPerRun(100, batch); got != 0 {
		t.Errorf("%v allocations for each batch, want none", got)
	}
}

func TestErrorMessages(t *testing.T) {
	hostile := strings.Repeat("\x1b[2J", 1000)
	for _, c := range []struct {
		err  error
		want string
	}{
		{&PathError{Append, P("a", 0), "does not exist"}, "chord: a at a[0]: does not exist"},
		{&UnsafePathError{Set, P("__proto__"), Key("__proto__")}, `chord: s at __proto__: key "__proto__" is reserved: set the nearest parent instead`},
		{&UnsafePathError{define, P("__proto__"), Key("__proto__")}, `chord: path definition __proto__: key "__proto__" is reserved`},
		{&ShapeError{Reason: "unknown verb"}, "chord: operation: unknown verb"},
		{&ShapeError{Verb: Set, Reason: "too few elements"}, "chord: s: too few elements"},
		{&ShapeError{Verb: Truncate, Path: P("a"), Reason: "bad count"}, "chord: t at a: bad count"},
		{&ShapeError{Verb: define, Reason: "bad id"}, "chord: path definition: bad id"},
		{&SyntaxError{7, "expected a value"}, "chord: not valid JSON at byte 7: expected a value"},
		{&LimitError{"bytes", 10}, "chord: over the limit of 10 bytes"},
		{&ValueError{errNotFinite}, "chord: value has no JSON: JSON has no number for NaN and infinity"},
		{&BatchError{3, &LimitError{"bytes", 10}}, "chord: over the limit of 10 bytes (operation 3 of the batch)"},
		{Validate(&Op{Verb: 'x'}), `chord: operation: unknown verb "x"`},
		{Validate(&Op{Verb: 0}), `chord: operation: unknown verb "\x00"`},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	for _, err := range []error{
		&PathError{Set, P(hostile, hostile), "x"}, &UnsafePathError{Set, P(hostile, "prototype"), Key("prototype")},
		Validate(&Op{Verb: Set, Path: P(hostile, "prototype")}),
	} {
		if got := err.Error(); len(got) > 1500 || strings.ContainsRune(got, 0x1b) {
			t.Errorf("message of %d bytes: %.300s", len(got), got)
		}
	}
	if got := Append.String() + Verb('x').String(); got != `aVerb("x")` {
		t.Errorf("verbs: %s", got)
	}
	_, err := new(Decoder).Decode(nil, []byte(`[["`+strings.Repeat("x", 10000)+`"]]`))
	if got := err.Error(); len(got) > 400 {
		t.Errorf("message of %d bytes", len(got))
	}
	if !errors.As(err, new(*ShapeError)) || !errors.As(error(&ValueError{errNotFinite}), new(*ValueError)) || !errors.Is(&ValueError{errNotFinite}, errNotFinite) {
		t.Error("errors do not unwrap")
	}
}
