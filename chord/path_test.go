// Paths and segments.

package chord

import (
	"strings"
	"testing"
)

func TestPathString(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct {
		path Path
		want string
	}{
		{nil, "(root)"},
		{P("text"), "text"},
		{P("truncation", "totalBytes"), "truncation.totalBytes"},
		{P("content", 0, "text"), "content[0].text"},
		{P(0, 1), "[0][1]"},
		{P("a", "odd key", "b"), `a["odd key"].b`},
		{P("", "0", "x\n"), `[""]["0"]["x\n"]`},
		{P("$a_1"), "$a_1"},
		{P("1a"), `["1a"]`},
		{P(long), `["` + strings.Repeat("é", 100) + `"…]`},
		{P("x" + long), `["x` + strings.Repeat("é", 99) + `"…]`},
		{P(long, "a", "b"), `["` + strings.Repeat("é", 100) + `"…]…`},
	} {
		if got := c.path.String(); got != c.want {
			t.Errorf("String of %d segments: got %s, want %s", len(c.path), got, c.want)
		}
	}
}

func TestSegment(t *testing.T) {
	if Key("0") == Index(0) {
		t.Error(`Key("0") == Index(0)`)
	}
	if (Segment{}) != Key("") {
		t.Error(`zero Segment is not Key("")`)
	}
	if key, ok := Key("a").Key(); key != "a" || !ok {
		t.Errorf(`Key("a").Key() = %q, %v`, key, ok)
	}
	if _, ok := Key("a").Index(); ok {
		t.Error(`Key("a") is an index`)
	}
	if i, ok := Index(3).Index(); i != 3 || !ok {
		t.Errorf("Index(3).Index() = %d, %v", i, ok)
	}
	if _, ok := Index(3).Key(); ok {
		t.Error("Index(3) is a key")
	}
	if P("a", Index(1))[1] != Index(1) {
		t.Error("P changes a Segment")
	}
	if got := Key("a\n").String() + Index(7).String(); got != `"a\n"7` {
		t.Errorf("String: got %s", got)
	}
}

func TestPPanics(t *testing.T) {
	for _, seg := range []any{-1, 1.5, nil, []string{"a"}, int64(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("P(%v) of type %T: no panic", seg, seg)
				}
			}()
			P("a", seg)
		}()
	}
}

// TestNegativeIndex: a segment that P would refuse is refused by everyone else.
func TestNegativeIndex(t *testing.T) {
	op := Op{Verb: Set, Path: Path{Key("xs"), Index(-1)}, Value: 1.0}
	doc := map[string]any{"xs": []any{1.0}}
	if err := Validate(&op); errorType(&BatchError{Cause: err}) != "ShapeError" {
		t.Errorf("Validate: %v", err)
	}
	if _, err := Apply(doc, []Op{op}); errorType(err) != "ShapeError" {
		t.Errorf("Apply: %v", err)
	}
	if _, err := new(Encoder).Encode(nil, []Op{op}); errorType(err) != "ShapeError" {
		t.Errorf("Encode: %v", err)
	}
}
