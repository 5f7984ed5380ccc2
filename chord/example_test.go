// Examples: what the documentation shows, run as tests.

package chord_test

import (
	"errors"
	"fmt"

	"github.com/execagent/execagent/chord"
)

// A writer and a replica, with the JSON that goes between them.
func Example() {
	// The writer's end.
	doc, err := chord.NewDocument(map[string]any{"output": "", "lines": 0})
	if err != nil {
		panic(err)
	}
	var encoder chord.Encoder

	// The other end.
	var decoder chord.Decoder
	var replica chord.Replica

	send := func() {
		wire, err := encoder.Encode(nil, doc.Flush(nil))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(wire))

		ops, err := decoder.Decode(nil, wire)
		if err != nil {
			panic(err)
		}
		if err := replica.Apply(ops); err != nil {
			panic(err)
		}
	}

	send() // the first batch has the whole document
	for i, line := range []string{"cc -c a.c\n", "cc -c b.c\n", "cc -c c.c\n"} {
		doc.Append(chord.P("output"), line)
		doc.Set(chord.P("lines"), i+1)
		send()
	}
	doc.Truncate(chord.P("output"), 20)
	doc.Append(chord.P("output"), "ld\n")
	send()

	value, _ := replica.Value()
	fmt.Printf("%q\n", value.(map[string]any)["output"])
	// Output:
	// [["r",{"lines":0,"output":""}]]
	// [["a",["output"],"cc -c a.c\n"],["s",["lines"],1]]
	// [["#",0,["output"]],["a",0,"cc -c b.c\n"],["#",1,["lines"]],["s",1,2]]
	// [["a",0,"cc -c c.c\n"],["s",1,3]]
	// [["t",0,20],["a","ld\n"]]
	// "cc -c c.c\nld\n"
}

// A Document coalesces what happens between two flushes.
func ExampleDocument() {
	doc, err := chord.NewDocument(map[string]any{"status": "idle", "steps": []any{}})
	if err != nil {
		panic(err)
	}
	doc.Flush(nil)

	doc.Set(chord.P("status"), "starting")
	doc.Set(chord.P("status"), "running")
	for _, name := range []string{"build", "test"} {
		steps := doc.Value().(map[string]any)["steps"].([]any)
		doc.Splice(chord.P("steps"), len(steps), 0, map[string]any{"name": name})
	}
	doc.Set(chord.P("steps", 0, "ok"), true)

	for _, op := range doc.Flush(nil) {
		fmt.Println(op.Verb, op.Path, op.Value, op.Items)
	}
	// Output:
	// s status running []
	// p steps <nil> [map[name:build ok:true] map[name:test]]
}

// A Tracker is given the whole value and finds out what changed.
func ExampleTracker() {
	type details struct {
		Passed int      `json:"passed"`
		Failed []string `json:"failed"`
	}
	state := details{Failed: []string{}}

	var tracker chord.Tracker
	var encoder chord.Encoder
	flush := func() {
		ops, err := tracker.Flush(map[string]any{"details": state})
		if err != nil {
			panic(err)
		}
		wire, err := encoder.Encode(nil, ops)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(wire))
	}

	flush()
	state.Passed++
	state.Failed = append(state.Failed, "TestParse")
	flush()
	flush()
	// Output:
	// [["r",{"details":{"failed":[],"passed":0}}]]
	// [["p",["details","failed"],0,0,["TestParse"]],["s",["details","passed"],1]]
	// []
}

// A program that knows what changed writes it without a document or an Op.
func ExampleEncoder_Begin() {
	text, total := chord.P("text"), chord.P("totalBytes") // made once

	var encoder chord.Encoder
	var wire []byte // reused
	write := func(dropped int, added []byte, bytes int64) {
		b := encoder.Begin(wire[:0])
		if dropped > 0 {
			b.Truncate(text, dropped)
		}
		b.AppendText(text, added)
		b.SetInt(total, bytes)
		var err error
		if wire, err = b.End(); err != nil {
			panic(err)
		}
		fmt.Println(string(wire))
	}

	write(0, []byte("one\n"), 4)
	write(4, []byte("two\n"), 8)
	// Output:
	// [["a",["text"],"one\n"],["s",["totalBytes"],4]]
	// [["#",0,["text"]],["t",0,4],["a","two\n"],["#",1,["totalBytes"]],["s",1,8]]
}

// What a peer sends is checked, and an error says what was wrong with it.
func ExampleDecoder() {
	decoder := chord.Decoder{Limits: chord.Limits{MaxBytes: 1 << 10}}
	_, err := decoder.Decode(nil, []byte(`[["s",["a"],1],["s",["a","__proto__","admin"],true]]`))
	fmt.Println(err)

	var unsafe *chord.UnsafePathError
	if errors.As(err, &unsafe) {
		fmt.Println("through", unsafe.Segment)
	}

	_, err = decoder.Decode(nil, []byte(`[["s",["a"],1]]`))
	fmt.Println(err)
	// Output:
	// chord: s at a.__proto__: key "__proto__" is reserved: set the nearest parent instead (operation 1 of the batch)
	// through "__proto__"
	// chord: this stream has to continue with a base batch
}

// A replica that cannot follow says so until it is given a base batch.
func ExampleReplica() {
	var replica chord.Replica
	fmt.Println(replica.Apply([]chord.Op{{Verb: chord.Append, Path: chord.P("t"), Text: "x"}}))

	fmt.Println(replica.Apply([]chord.Op{
		{Verb: chord.Replace, Value: map[string]any{"t": "a"}},
		{Verb: chord.Append, Path: chord.P("t"), Text: "x"},
	}))
	fmt.Println(replica.Value())
	// Output:
	// chord: this stream has to continue with a base batch
	// <nil>
	// map[t:ax] true
}

// Readers of the old document are not disturbed by the new one.
func ExampleApplyImmutable() {
	before := any(map[string]any{"a": []any{1.0}, "b": []any{2.0}})
	after, err := chord.ApplyImmutable(before, []chord.Op{
		{Verb: chord.Splice, Path: chord.P("a"), Index: 1, Items: []any{3.0}},
	})
	fmt.Println(before, after, err)
	// Output:
	// map[a:[1] b:[2]] map[a:[1 3] b:[2]] <nil>
}

// A window of text is cut in the units that Truncate counts.
func ExampleUnits() {
	fmt.Println(chord.Units("abc"), chord.Units("é"), chord.Units("😀"))
	// Output:
	// 3 1 2
}
