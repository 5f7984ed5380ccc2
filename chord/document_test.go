// The explicit producer: what it makes of changes, refuses, keeps and shares.

package chord

import (
	"fmt"
	"strings"
	"testing"
)

func must(errs ...error) {
	for _, err := range errs {
		if err != nil {
			panic(err)
		}
	}
}

// TestDocumentCoalesces says what becomes of changes between two flushes.
func TestDocumentCoalesces(t *testing.T) {
	const start = `{"n":0,"text":"abcdef","o":{"x":1,"t":"uvw"},"xs":[0,1,2,3],"es":[{"k":0},{"k":1}]}`
	text, xs, es := P("text"), P("xs"), P("es")
	for _, c := range []struct {
		name   string
		change func(d *Document)
		want   string
	}{
		{"nothing", func(d *Document) {}, `[]`},
		{"a field written often", func(d *Document) {
			for i := range 100 {
				must(d.Set(P("n"), i))
			}
		}, `[["s",["n"],99]]`},
		{"appends", func(d *Document) {
			for _, s := range []string{"1", "", "2", "3"} {
				must(d.Append(text, s))
			}
		}, `[["a",["text"],"123"]]`},
		{"a slide", func(d *Document) {
			must(d.Truncate(text, 1), d.Append(text, "gh"), d.Truncate(text, 2), d.Append(text, "i"))
		}, `[["t",["text"],3],["a","ghi"]]`},
		{"a slide all the way", func(d *Document) {
			must(d.Append(text, "ghi"), d.Truncate(text, 7), d.Append(text, "j"))
		}, `[["s",["text"],"hij"]]`},
		{"truncation alone", func(d *Document) { must(d.Truncate(text, 2), d.Truncate(text, 1)) }, `[["t",["text"],3]]`},
		{"truncation to nothing", func(d *Document) { must(d.Truncate(text, 6)) }, `[["s",["text"],""]]`},
		{"an append to nothing", func(d *Document) {
			must(d.Set(text, ""))
			d.Flush(nil)
			must(d.Append(text, "abc"), d.Truncate(text, 1))
		}, `[["s",["text"],"bc"]]`},
		{"empty changes", func(d *Document) {
			must(d.Append(text, ""), d.Truncate(text, 0), d.Splice(xs, 2, 0), d.Delete(P("none")))
		}, `[]`},
		{"texts and fields in turn", func(d *Document) {
			for i := range 3 {
				must(d.Append(text, fmt.Sprint(i)), d.Set(P("n"), i), d.Append(P("o", "t"), "x"))
			}
		}, `[["a",["text"],"012"],["s",["n"],2],["a",["o","t"],"xxx"]]`},
		{"children and then their parent", func(d *Document) {
			must(d.Set(P("o", "x"), 2), d.Append(P("o", "t"), "x"), d.Set(P("o"), map[string]any{"y": 1}))
		}, `[["s",["o"],{"y":1}]]`},
		{"a parent and then its children", func(d *Document) {
			must(d.Set(P("o"), map[string]any{"t": ""}), d.Set(P("o", "x"), 2), d.Append(P("o", "t"), "x"), d.Delete(P("o", "x")))
		}, `[["s",["o"],{"t":"x"}]]`},
		{"a text set and then appended to", func(d *Document) { must(d.Set(text, "x"), d.Append(text, "y")) }, `[["s",["text"],"xy"]]`},
		{"a text appended to and then set", func(d *Document) { must(d.Append(text, "y"), d.Set(text, "x")) }, `[["s",["text"],"x"]]`},
		{"set and deleted", func(d *Document) { must(d.Set(P("n"), 1), d.Delete(P("n"))) }, `[["d",["n"]]]`},
		{"deleted and set", func(d *Document) { must(d.Delete(P("n")), d.Set(P("n"), 1)) }, `[["s",["n"],1]]`},
		{"pushes", func(d *Document) {
			must(d.Splice(xs, 4, 0, 4), d.Set(P("xs", 5), 5), d.Splice(xs, 6, 0, 6, 7))
		}, `[["p",["xs"],4,0,[4,5,6,7]]]`},
		{"pushes and changes inside", func(d *Document) {
			must(d.Splice(es, 2, 0, map[string]any{"k": 2}), d.Set(P("es", 2, "k"), 3), d.Set(P("es", 3), map[string]any{}), d.Set(P("es", 3, "n"), 1))
		}, `[["p",["es"],2,0,[{"k":3},{"n":1}]]]`},
		{"pushes and changes of others", func(d *Document) {
			must(d.Splice(es, 2, 0, 1), d.Set(P("es", 0, "k"), 9), d.Splice(es, 3, 0, 2), d.Set(P("es", 0, "k"), 8))
		}, `[["p",["es"],2,0,[1,2]],["s",["es",0,"k"],8]]`},
		{"shifts", func(d *Document) {
			must(d.Splice(xs, 0, 1), d.Splice(xs, 0, 1), d.Splice(xs, 0, 1))
		}, `[["p",["xs"],0,3,[]]]`},
		{"a splice into a splice", func(d *Document) {
			must(d.Splice(xs, 1, 1, 7, 8, 9), d.Splice(xs, 2, 1), d.Splice(xs, 2, 2, 6))
		}, `[["p",["xs"],1,2,[7,6]]]`},
		{"splices apart", func(d *Document) {
			must(d.Splice(xs, 0, 0, 9), d.Splice(xs, 3, 1))
		}, `[["p",["xs"],0,0,[9]],["p",3,1,[]]]`},
		{"what was inserted and removed", func(d *Document) {
			must(d.Splice(xs, 1, 0, 7), d.Splice(xs, 1, 1))
		}, `[]`},
		{"elements before and after a shift", func(d *Document) {
			must(d.Set(P("es", 1, "k"), 5), d.Splice(es, 0, 1), d.Set(P("es", 0, "k"), 6))
		}, `[["s",["es",1,"k"],5],["p",["es"],0,1,[]],["s",["es",0,"k"],6]]`},
		{"an element that a shift has moved away", func(d *Document) {
			must(d.Set(P("es", 1), 5), d.Splice(es, 0, 1), d.Splice(es, 1, 0, 6), d.Set(P("es", 1), 7))
		}, `[["s",["es",1],5],["p",["es"],0,1,[]],["p",1,0,[7]]]`},
		{"moves", func(d *Document) {
			must(d.Set(P("xs", 0), 9), d.Move(xs, []int{3, 2, 1, 0}), d.Set(P("xs", 0), 8))
		}, `[["s",["xs",0],9],["m",["xs"],[3,2,1,0]],["#",0,["xs",0]],["s",0,8]]`},
		{"everything in an array that is set", func(d *Document) {
			must(d.Set(P("es", 1, "k"), 5), d.Splice(es, 0, 1), d.Move(es, []int{0}), d.Set(es, []any{}))
		}, `[["s",["es"],[]]]`},
		{"a text in an element before and after a shift", func(d *Document) {
			must(d.Set(es, []any{"a", "b"}))
			d.Flush(nil)
			must(d.Append(P("es", 1), "1"), d.Splice(es, 0, 1), d.Append(P("es", 0), "2"))
		}, `[["a",["es",1],"1"],["p",["es"],0,1,[]],["a",["es",0],"2"]]`},
		{"anything before and after a rebase", func(d *Document) {
			must(d.Replace(map[string]any{"t": "a"}), d.Append(P("t"), "b"))
			d.Rebase()
			must(d.Append(P("t"), "c"))
		}, `[["r",{"t":"abc"}]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := parse([]byte(start), 0)
			must(err)
			d, err := NewDocument(doc)
			must(err)
			d.Flush(nil)
			c.change(d)
			got, err := new(Encoder).Encode(nil, d.Flush(nil))
			if err != nil || string(got) != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestDocumentRefuses(t *testing.T) {
	start := map[string]any{"n": 1, "t": "a😀", "xs": []any{1}}
	for _, c := range []struct {
		name   string
		change func(d *Document) error
		want   string
	}{
		{"a missing parent", func(d *Document) error { return d.Set(P("a", "b"), 1) }, "PathError"},
		{"beyond the end", func(d *Document) error { return d.Set(P("xs", 2), 1) }, "PathError"},
		{"a reserved key", func(d *Document) error { return d.Set(P("__proto__"), 1) }, "UnsafePathError"},
		{"a text at a reserved key", func(d *Document) error { return d.Append(P("__proto__"), "x") }, "UnsafePathError"},
		{"the root", func(d *Document) error { return d.Set(P(), 1) }, "ShapeError"},
		{"no JSON", func(d *Document) error { return d.Set(P("n"), make(chan int)) }, "ValueError"},
		{"no JSON in an item", func(d *Document) error { return d.Splice(P("xs"), 0, 0, func() {}) }, "ValueError"},
		{"no JSON as a whole", func(d *Document) error { return d.Replace(func() {}) }, "ValueError"},
		{"an element deleted", func(d *Document) error { return d.Delete(P("xs", 0)) }, "PathError"},
		{"a number appended to", func(d *Document) error { return d.Append(P("n"), "x") }, "PathError"},
		{"nothing appended to", func(d *Document) error { return d.Append(P("none"), "x") }, "PathError"},
		{"truncated too far", func(d *Document) error { return d.Truncate(P("t"), 9) }, "PathError"},
		{"a pair split", func(d *Document) error { return d.Truncate(P("t"), 2) }, "PathError"},
		{"truncated by less than nothing", func(d *Document) error { return d.Truncate(P("t"), -1) }, "ShapeError"},
		{"spliced too far", func(d *Document) error { return d.Splice(P("xs"), 0, 2) }, "PathError"},
		{"spliced beyond the end", func(d *Document) error { return d.Splice(P("xs"), 2, 0) }, "PathError"},
		{"an object spliced", func(d *Document) error { return d.Splice(P(), 0, 0, 1) }, "PathError"},
		{"moved by too few", func(d *Document) error { return d.Move(P("xs"), nil) }, "PathError"},
		{"moved by no permutation", func(d *Document) error { return d.Move(P("xs"), []int{1}) }, "ShapeError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := NewDocument(start)
			must(err)
			d.Flush(nil)
			for _, before := range []func() error{
				func() error { return nil },
				func() error { return d.Append(P("t"), "") }, // with the text live
				func() error { return d.Append(P("t"), "b") },
			} {
				must(before())
				want := clone(d.Value())
				must(d.Append(P("t"), ""))
				err := c.change(d)
				if got := errorType(&BatchError{Cause: err}); got != c.want {
					t.Errorf("got %v, a %s, want %s", err, got, c.want)
				}
				if !equal(d.Value(), want) {
					t.Errorf("the document is %v, want %v", d.Value(), want)
				}
			}
			if got := fmt.Sprint(d.Flush(nil)); got != fmt.Sprint([]Op{{Verb: Append, Path: P("t"), Text: "b"}}) {
				t.Errorf("flush afterwards: %v", got)
			}
		})
	}
}

// TestDocumentBounds: what a document remembers between flushes and of paths does
// not grow without end.
func TestDocumentBounds(t *testing.T) {
	d, err := NewDocument(map[string]any{})
	must(err)
	d.Flush(nil)
	for i := range maxChanges {
		must(d.Set(P(fmt.Sprint(i)), i))
	}
	if ops := d.Flush(nil); len(ops) != maxChanges || IsBase(ops) {
		t.Errorf("%d changes: %d operations, base %v", maxChanges, len(ops), IsBase(ops))
	}
	for i := range maxChanges + 1 {
		must(d.Set(P(fmt.Sprint(i)), -i))
	}
	if ops := d.Flush(nil); len(ops) != 1 || !IsBase(ops) {
		t.Errorf("%d changes: %d operations, base %v", maxChanges+1, len(ops), IsBase(ops))
	}
	for i := range 3 * maxNodes {
		must(d.Set(P(fmt.Sprint(i)), i))
		must(d.Set(P("text"), "x"), d.Append(P("text"), "y"))
		d.Flush(nil)
		if d.changes.nodes > maxNodes+2 {
			t.Fatalf("%d paths remembered after %d", d.changes.nodes, i)
		}
	}
	if got := d.Value().(map[string]any)["text"]; got != "xy" {
		t.Errorf("text is %q", got)
	}
}

// TestDocumentOwns: neither what goes in nor what comes out is shared.
func TestDocumentOwns(t *testing.T) {
	in := map[string]any{"xs": []any{map[string]any{"n": 1.0}}}
	d, err := NewDocument(in)
	must(err)
	in["xs"].([]any)[0].(map[string]any)["n"] = 2.0
	base := d.Flush(nil)
	item := map[string]any{"n": 3.0}
	must(d.Splice(P("xs"), 1, 0, item), d.Set(P("o"), item))
	item["n"] = 4.0
	ops := d.Flush(nil)
	doc, err := Apply(nil, base)
	must(err)
	doc, err = Apply(doc, ops)
	must(err)
	_, err = Apply(doc, []Op{{Verb: Set, Path: P("xs", 1, "n"), Value: 5.0}, {Verb: Set, Path: P("o", "n"), Value: 6.0}, {Verb: Set, Path: P("xs", 0, "n"), Value: 7.0}})
	must(err)
	got, err := appendValue(nil, d.Value(), 0)
	if want := `{"o":{"n":3},"xs":[{"n":1},{"n":3}]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

// TestDocumentFlushAllocates: a window that slides, and numbers, cost nothing.
func TestDocumentFlushAllocates(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	d, err := NewDocument(map[string]any{"text": strings.Repeat(line, 512), "n": 0})
	must(err)
	ops := d.Flush(nil)
	text := P("text")
	if got := testing.AllocsPerRun(1000, func() {
		must(d.Truncate(text, len(line)), d.Append(text, line))
		ops = d.Flush(ops[:0])
	}); got > 0 {
		t.Errorf("a slide of a line: %v allocations", got)
	}
	if len(ops) != 2 {
		t.Errorf("got %v", ops)
	}
}
