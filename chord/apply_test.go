// Applying: decoded operations that no decoder would give, and documents that are
// not plain.

package chord

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDecodedVocabulary: Apply checks what a decoder would have, because the
// operations may come from elsewhere.
func TestDecodedVocabulary(t *testing.T) {
	for _, c := range []struct {
		name string
		op   Op
		want string
	}{
		{"no verb", Op{}, "ShapeError"},
		{"a wire verb", Op{Verb: define, Path: P("a")}, "ShapeError"},
		{"set the root", Op{Verb: Set}, "ShapeError"},
		{"delete the root", Op{Verb: Delete}, "ShapeError"},
		{"append to the root", Op{Verb: Append}, "ShapeError"},
		{"truncate the root", Op{Verb: Truncate}, "ShapeError"},
		{"a negative count", Op{Verb: Truncate, Path: P("t"), Count: -1}, "ShapeError"},
		{"a negative index", Op{Verb: Splice, Path: P("xs"), Index: -1}, "ShapeError"},
		{"a negative removal", Op{Verb: Splice, Path: P("xs"), Remove: -1}, "ShapeError"},
		{"twice the same", Op{Verb: Move, Path: P("xs"), Perm: []int{0, 0}}, "ShapeError"},
		{"a negative element", Op{Verb: Move, Path: P("xs"), Perm: []int{0, -1}}, "ShapeError"},
		{"a long one that is none", Op{Verb: Move, Path: P("xs"), Perm: make([]int, 1000)}, "ShapeError"},
		{"a path too long", Op{Verb: Delete, Path: slices.Repeat(P("a"), DefaultMaxPathDepth+1)}, "ShapeError"},
		{"a reserved key", Op{Verb: Splice, Path: P("a", "constructor")}, "UnsafePathError"},
		{"a removal that overflows", Op{Verb: Splice, Path: P("xs"), Index: 1, Remove: int(^uint(0) >> 1)}, "PathError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := func() any {
				return map[string]any{"t": "ab", "xs": []any{1.0, 2.0}}
			}
			before := doc()
			got, err := Apply(before, []Op{c.op})
			if errorType(err) != c.want || !equal(got, doc()) {
				t.Errorf("Apply: %v and %v, want a %s and no change", got, err, c.want)
			}
			if err := Validate(&c.op); (err == nil) != (c.want == "PathError") {
				t.Errorf("Validate: %v", err)
			}
		})
	}
}

// TestReplaceFirst: a Replace in the middle is an error for Apply as well, and what
// came before it stays done.
func TestReplaceFirst(t *testing.T) {
	doc, err := Apply(map[string]any{}, []Op{
		{Verb: Set, Path: P("a"), Value: 1.0},
		{Verb: Replace, Value: nil},
	})
	if errorType(err) != "ShapeError" || err.(*BatchError).Op != 1 {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(any(map[string]any{"a": 1.0}), doc); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// TestErrorIsAboutTruncate: the two operations of a slide are carried out as one,
// and the first is still the one that fails.
func TestErrorIsAboutTruncate(t *testing.T) {
	_, err := Apply(map[string]any{"t": "ab"}, []Op{
		{Verb: Append, Path: P("t"), Text: "c"},
		{Verb: Truncate, Path: P("t"), Count: 4},
		{Verb: Append, Path: P("t"), Text: "d"},
	})
	batch, ok := err.(*BatchError)
	if !ok || batch.Op != 1 || !strings.Contains(err.Error(), "t at t: 4 code units are not in a text of 3") {
		t.Errorf("got %v", err)
	}
}

// TestOddDocuments: what is not plain JSON is an error and no panic.
func TestOddDocuments(t *testing.T) {
	for _, doc := range []any{nil, true, 1.0, "s", 7, map[string]any(nil), []any(nil), []string{"a"}, map[string]string{}} {
		for _, op := range []Op{
			{Verb: Set, Path: P("a"), Value: 1.0},
			{Verb: Delete, Path: P("a")},
			{Verb: Append, Path: P("a", "b"), Text: "x"},
			{Verb: Truncate, Path: P(0, "b"), Count: 1},
			{Verb: Splice, Path: P("a"), Items: []any{1.0}},
			{Verb: Move, Path: P(0)},
		} {
			for _, apply := range []func(any, []Op) (any, error){Apply, ApplyImmutable} {
				if _, err := apply(doc, []Op{op}); errorType(err) != "PathError" {
					t.Errorf("%v at %v of %T %v: %v, want a PathError", op.Verb, op.Path, doc, doc, err)
				}
			}
		}
	}
	doc := map[string]any{"n": 1, "b": false, "x": struct{}{}}
	for key, want := range map[string]string{"n": "a int, which is no JSON value", "b": "a boolean", "x": "a struct {}"} {
		if _, err := Apply(doc, []Op{{Verb: Append, Path: P(key)}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("append to %s: %v, want %q in it", key, err, want)
		}
	}
}

// TestApplyImmutableShares: only the containers on changed paths are new, and each
// once.
func TestApplyImmutableShares(t *testing.T) {
	untouched := map[string]any{"x": 1.0}
	before := map[string]any{"a": []any{map[string]any{"n": 1.0}, untouched}, "b": untouched}
	item := map[string]any{"n": 5.0}
	ops := []Op{
		{Verb: Set, Path: P("a", 0, "n"), Value: 2.0},
		{Verb: Set, Path: P("a", 0, "m"), Value: 3.0},
		{Verb: Splice, Path: P("a"), Index: 0, Items: []any{item}},
		{Verb: Set, Path: P("a", 0, "n"), Value: 6.0},
		{Verb: Set, Path: P("a", 1, "n"), Value: 7.0},
		{Verb: Set, Path: P("c"), Value: item},
		{Verb: Set, Path: P("c", "n"), Value: 8.0},
	}
	got, err := ApplyImmutable(before, ops)
	must(err)
	want := map[string]any{
		"a": []any{map[string]any{"n": 6.0}, map[string]any{"n": 7.0, "m": 3.0}, untouched},
		"b": untouched, "c": map[string]any{"n": 8.0},
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("got (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"n": 5.0}, item); diff != "" {
		t.Errorf("the batch's own value changed:\n%s", diff)
	}
	untouched["x"] = 2.0 // seen through both, being one map
	if got.(map[string]any)["b"].(map[string]any)["x"] != 2.0 {
		t.Error("a container off the changed paths was copied")
	}
}
