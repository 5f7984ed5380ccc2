// The producer by difference: what it sends, and that it stays cheap.

package chord

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTracker says which operations a difference becomes.
func TestTracker(t *testing.T) {
	long := strings.Repeat("0123456789", 5)
	for _, c := range []struct {
		name      string
		old, next string
		want      string
	}{
		{"nothing", `{"a":[1,{"b":"c"}]}`, `{"a":[1,{"b":"c"}]}`, `[]`},
		{"a number", `{"a":{"b":1,"c":2}}`, `{"a":{"b":1,"c":3}}`, `[["s",["a","c"],3]]`},
		{"another type", `{"a":{"b":1}}`, `{"a":[1]}`, `[["s",["a"],[1]]]`},
		{"null", `{"a":1}`, `{"a":null}`, `[["s",["a"],null]]`},
		{"keys", `{"a":1,"b":2}`, `{"b":2,"c":{"d":1}}`, `[["d",["a"]],["s",["c"],{"d":1}]]`},
		{"the root", `{"a":1}`, `[1]`, `[["r",[1]]]`},
		{"a root text", `"a"`, `"ab"`, `[["r","ab"]]`},
		{"appended text", `{"t":"abc"}`, `{"t":"abcd"}`, `[["a",["t"],"d"]]`},
		{"appended to nothing", `{"t":""}`, `{"t":"abcd"}`, `[["a",["t"],"abcd"]]`},
		{"a text that slides", `{"t":"` + long + `"}`, `{"t":"` + long[7:] + `xyz"}`, `[["t",["t"],7],["a","xyz"]]`},
		{"a text that slides by pairs", `{"t":"😀é` + long + `"}`, `{"t":"` + long + `😀"}`, `[["t",["t"],3],["a","😀"]]`},
		{"a text that loses its beginning", `{"t":"` + long + `"}`, `{"t":"` + long[7:] + `"}`, `[["t",["t"],7]]`},
		{"a text that slides far", `{"t":"` + long + `"}`, `{"t":"` + long[38:] + `xyz"}`, `[["t",["t"],38],["a","xyz"]]`},
		{"an overlap too small to pay", `{"t":"abcdef"}`, `{"t":"efg"}`, `[["s",["t"],"efg"]]`},
		{"a text that loses its end", `{"t":"abcdef"}`, `{"t":"abc"}`, `[["s",["t"],"abc"]]`},
		{"a push", `{"xs":[1,2]}`, `{"xs":[1,2,3]}`, `[["p",["xs"],2,0,[3]]]`},
		{"a pop", `{"xs":[1,2]}`, `{"xs":[1]}`, `[["p",["xs"],1,1,[]]]`},
		{"a shift and a push", `{"xs":[1,2,3,4,5,6]}`, `{"xs":[2,3,4,5,6,7]}`, `[["p",["xs"],0,1,[]],["p",5,0,[7]]]`},
		{"lines that slide", `{"xs":["line one","line two","line three","line four"]}`, `{"xs":["line three","line four","line five"]}`, `[["p",["xs"],0,2,[]],["p",2,0,["line five"]]]`},
		{"lines that slide between others", `{"xs":["head","line one","line two","line three","tail"]}`, `{"xs":["head","line two","line three","line four","tail"]}`, `[["p",["xs"],1,1,[]],["p",3,0,["line four"]]]`},
		{"a root push", `[1]`, `[1,{}]`, `[["p",[],1,0,[{}]]]`},
		{"an insertion", `{"xs":["a","b"]}`, `{"xs":["a","c","b"]}`, `[["p",["xs"],1,0,["c"]]]`},
		{"an element", `{"xs":[{"k":1,"t":"long enough"},{"k":2,"t":"long enough"}]}`, `{"xs":[{"k":1,"t":"long enough"},{"k":3,"t":"long enough"}]}`, `[["s",["xs",1,"k"],3]]`},
		{"an element and a push", `{"xs":[{"k":1,"t":"long enough"},{"k":2,"t":"long enough"}]}`, `{"xs":[{"k":9,"t":"long enough"},{"k":2,"t":"long enough"},{"k":3}]}`, `[["s",["xs",0,"k"],9],["p",["xs"],2,0,[{"k":3}]]]`},
		{"elements of one kind", `{"xs":[1,2,3]}`, `{"xs":[4,5,6]}`, `[["p",["xs"],0,3,[4,5,6]]]`},
		{"a move", `{"xs":["alpha beta","gamma delta","epsilon zeta"]}`, `{"xs":["epsilon zeta","alpha beta","gamma delta"]}`, `[["m",["xs"],[2,0,1]]]`},
		{"a move of equals", `{"xs":["x","alpha beta","alpha beta","gamma delta","y"]}`, `{"xs":["x","gamma delta","alpha beta","alpha beta","y"]}`, `[["m",["xs"],[0,3,1,2,4]]]`},
		{"inside a reserved key", `{"a":{"constructor":{"n":1},"b":2}}`, `{"a":{"constructor":{"n":2},"b":2}}`, `[["s",["a"],{"b":2,"constructor":{"n":2}}]]`},
		{"a reserved key in the root", `{"a":1}`, `{"a":1,"__proto__":2}`, `[["r",{"__proto__":2,"a":1}]]`},
		{"beside a reserved key", `{"a":{"prototype":{"n":1},"b":2}}`, `{"a":{"prototype":{"n":1},"b":3}}`, `[["s",["a","b"],3]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, err := parse([]byte(c.old), 0)
			must(err)
			next, err := parse([]byte(c.next), 0)
			must(err)
			var tracker Tracker
			_, err = tracker.Flush(old)
			must(err)
			ops, err := tracker.Flush(next)
			must(err)
			got, err := new(Encoder).Encode(nil, ops)
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
			if doc, err := Apply(old, ops); err != nil || !equal(doc, next) {
				t.Errorf("Apply: %v, %v, want %v", doc, err, next)
			}
		})
	}
}

// TestTrackerStruct: the value may be any that encoding/json knows.
func TestTrackerStruct(t *testing.T) {
	type step struct {
		Name   string `json:"name"`
		Failed bool   `json:"failed,omitempty"`
	}
	type details struct {
		Passed int    `json:"passed"`
		Steps  []step `json:"steps"`
		hidden int
	}
	state := details{Steps: []step{{Name: "build"}}}
	var tracker Tracker
	var encoder Encoder
	flush := func() string {
		t.Helper()
		ops, err := tracker.Flush(map[string]any{"details": &state})
		must(err)
		wire, err := encoder.Encode(nil, ops)
		must(err)
		return string(wire)
	}
	check := func(want string) {
		t.Helper()
		if got := flush(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	check(`[["r",{"details":{"passed":0,"steps":[{"name":"build"}]}}]]`)
	state.hidden++
	check(`[]`)
	state.Passed, state.Steps = 1, append(state.Steps, step{Name: "<test>"})
	check(`[["s",["details","passed"],1],["p",["details","steps"],1,0,[{"name":"<test>"}]]]`)
	state.Steps[0].Failed = true
	check(`[["s",["details","steps",0,"failed"],true]]`)
	tracker.Rebase()
	check(`[["r",{"details":{"passed":1,"steps":[{"failed":true,"name":"build"},{"name":"<test>"}]}}]]`)
}

func TestTrackerErrors(t *testing.T) {
	var tracker Tracker
	_, err := tracker.Flush(map[string]any{"a": 1})
	must(err)
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	for _, bad := range []any{cyclic, make(chan int), map[string]any{"f": []any{func() {}}}} {
		if ops, err := tracker.Flush(bad); errorType(&BatchError{Cause: err}) != "ValueError" {
			t.Errorf("Flush of a %T: %v, %v", bad, ops, err)
		}
	}
	ops, err := tracker.Flush(map[string]any{"a": 2})
	if want := []Op{{Verb: Set, Path: P("a"), Value: 2.0}}; err != nil || diffOps(want, ops) != "" {
		t.Errorf("after errors: %v, %v", ops, err)
	}
}

// TestTrackerLarge: a difference of too many operations is a base batch.
func TestTrackerLarge(t *testing.T) {
	for _, c := range []struct {
		changed int
		base    bool
	}{{maxChanges, false}, {maxChanges + 1, true}} {
		state := map[string]any{}
		for i := range c.changed {
			state[fmt.Sprint(i)] = 0
		}
		var tracker Tracker
		_, err := tracker.Flush(state)
		must(err)
		for key := range state {
			state[key] = 1
		}
		ops, err := tracker.Flush(state)
		if err != nil || IsBase(ops) != c.base {
			t.Errorf("%d changes: %d operations, base %v, %v, want base %v", c.changed, len(ops), IsBase(ops), err, c.base)
		}
	}
}

// TestTrackerDepth: changes deeper than a path may be are sets further up.
func TestTrackerDepth(t *testing.T) {
	nested := func(leaf string) any {
		v := any(leaf)
		for i := range DefaultMaxNesting - 2 {
			if i%2 == 0 {
				v = []any{v}
			} else {
				v = map[string]any{"k": v}
			}
		}
		return v
	}
	var tracker Tracker
	_, err := tracker.Flush(nested("a"))
	must(err)
	ops, err := tracker.Flush(nested("ab"))
	must(err)
	wire, err := new(Encoder).Encode(nil, ops)
	must(err)
	if len(ops) != 1 || len(ops[0].Path) != DefaultMaxPathDepth {
		t.Errorf("got %d operations, of %d segments: %s", len(ops), len(ops[0].Path), wire)
	}
	decoded, err := new(Decoder).Decode(nil, wire)
	must(err)
	if doc, err := Apply(nested("a"), decoded); err != nil || !equal(doc, nested("ab")) {
		t.Errorf("Apply: %v", err)
	}
}

// TestOverlap compares with trying every length. Only what it may give up on,
// texts that repeat, may come out shorter.
func TestOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 20_000 {
		letters := []rune("ab")
		if r.IntN(2) == 0 {
			letters = []rune("abcdefghij é😀\n")
		}
		runes := make([]rune, r.IntN(300))
		for i := range runes {
			runes[i] = pick(r, letters)
		}
		text := string(runes)
		cut := len(string(runes[:r.IntN(len(runes)+1)]))
		old, next := text, text[cut:]+randomText(r, 20)
		if r.IntN(4) == 0 {
			next = randomText(r, 60)
		}
		got := overlap(old, next)
		if !strings.HasSuffix(old, next[:got]) {
			t.Fatalf("overlap(%q, %q) = %d, which is none", old, next, got)
		}
		longest := min(len(old), len(next))
		for !strings.HasSuffix(old, next[:longest]) {
			longest--
		}
		if got != longest {
			t.Fatalf("overlap(%q, %q) = %d, want %d", old, next, got, longest)
		}
	}
}

// TestOverlapOfLines: lines that begin alike do not use up the search.
func TestOverlapOfLines(t *testing.T) {
	text := BuildOutput(60_000)
	for cut := range 2000 {
		old, next := text[:50_000], text[cut:50_000+cut]
		if got := overlap(old, next); got != 50_000-cut {
			t.Fatalf("after a cut of %d: overlap is %d, want %d", cut, got, 50_000-cut)
		}
	}
}

// TestOverlapRepetitive: looking for an overlap takes few steps, whatever the
// text. A quadratic search would take minutes here.
func TestOverlapRepetitive(t *testing.T) {
	for _, c := range []struct{ name, old, next string }{
		{"one letter, another at the end", strings.Repeat("a", 1<<20), strings.Repeat("a", 1<<20-1) + "b"},
		{"one letter, another before the end", strings.Repeat("a", 1<<20-100) + "b" + strings.Repeat("a", 99), strings.Repeat("a", 1<<20)},
		{"lines", strings.Repeat("the same line\n", 1<<16), strings.Repeat("the same line\n", 1<<16-1) + "another"},
	} {
		got := overlap(c.old, c.next)
		if !strings.HasSuffix(c.old, c.next[:got]) {
			t.Errorf("%s: %d is no overlap", c.name, got)
		}
	}
}
