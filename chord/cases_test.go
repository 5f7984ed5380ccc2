// The case tables: batches that every replica takes, and batches that none may.
// They are files because test/interop runs the same ones against JavaScript, and
// the fuzz targets begin with them.

package chord

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testCase is a document and the batches that follow.
type testCase struct {
	Name  string
	Doc   any
	Wire  []string
	Want  any    // testdata/valid.json: the document afterwards
	Error string // testdata/hostile.json: the type of the last batch's error
}

func readCases(t testing.TB, file string) []testCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(cases) < 30 {
		t.Fatalf("%s: only %d cases", file, len(cases))
	}
	return cases
}

func TestValidBatches(t *testing.T) {
	for _, c := range readCases(t, "valid.json") {
		t.Run(c.Name, func(t *testing.T) {
			var decoder, again Decoder
			var encoder Encoder
			doc, kept := clone(c.Doc), clone(c.Doc)
			frozen := c.Doc
			for _, wire := range c.Wire {
				if err := ValidateWire([]byte(wire)); err != nil {
					t.Errorf("ValidateWire(%s): %v", wire, err)
				}
				ops, err := decoder.Decode(nil, []byte(wire))
				if err != nil {
					t.Fatalf("Decode(%s): %v", wire, err)
				}
				own, err := encoder.Encode(nil, ops)
				if err != nil {
					t.Fatalf("Encode(Decode(%s)): %v", wire, err)
				}
				if back, err := again.Decode(nil, own); err != nil || diffOps(ops, back) != "" {
					t.Errorf("Decode(Encode(Decode(%s))): %v\n%s", wire, err, diffOps(ops, back))
				}
				if frozen, err = ApplyImmutable(frozen, ops); err != nil {
					t.Fatalf("ApplyImmutable(%s): %v", wire, err)
				}
				if doc, err = Apply(doc, ops); err != nil {
					t.Fatalf("Apply(%s): %v", wire, err)
				}
			}
			if diff := cmp.Diff(c.Want, doc); diff != "" {
				t.Errorf("Apply (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.Want, frozen); diff != "" {
				t.Errorf("ApplyImmutable (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(kept, c.Doc); diff != "" {
				t.Errorf("ApplyImmutable changed its argument:\n%s", diff)
			}
		})
	}
}

// TestHostileBatches has every rule of the vocabulary broken once: the error is of
// the type that belongs to the rule, an immutable replica is what it was, and a
// decoder or Replica is over until a base batch.
func TestHostileBatches(t *testing.T) {
	for _, c := range readCases(t, "hostile.json") {
		t.Run(c.Name, func(t *testing.T) {
			var decoder Decoder
			var replica Replica
			if err := replica.Apply([]Op{{Verb: Replace, Value: clone(c.Doc)}}); err != nil {
				t.Fatal(err)
			}
			last := len(c.Wire) - 1
			for _, wire := range c.Wire[:last] {
				if err := take(&decoder, &replica, wire); err != nil {
					t.Fatalf("%s: %v", wire, err)
				}
			}
			value, _ := replica.Value()
			before := clone(value)
			ops, err := decoder.Decode(nil, []byte(c.Wire[last]))
			decoded := err == nil
			if decoded {
				var after any
				if after, err = ApplyImmutable(value, ops); !equal(before, after) {
					t.Errorf("ApplyImmutable returned another document with its error: %v", after)
				}
				if !equal(before, value) {
					t.Errorf("ApplyImmutable changed the document it refused to: %v", value)
				}
				if strict := replica.Apply(ops); strict == nil || strict.Error() != err.Error() {
					t.Errorf("Replica: got error %v, want %v", strict, err)
				}
			}
			if got := errorType(err); got != c.Error {
				t.Fatalf("got %s (%v), want %s", got, err, c.Error)
			}
			t.Log(err)
			checkOver(t, &decoder, &replica, decoded)
		})
	}
}

func take(decoder *Decoder, replica *Replica, wire string) error {
	ops, err := decoder.Decode(nil, []byte(wire))
	if err == nil {
		err = replica.Apply(ops)
	}
	return err
}

// checkOver tests that whoever found the error wants a base batch, and is well
// with one.
func checkOver(t *testing.T, decoder *Decoder, replica *Replica, decoded bool) {
	t.Helper()
	for _, wire := range []string{`[["s",["a"],1]]`, `[]`} {
		_, err := decoder.Decode(nil, []byte(wire))
		if over := err == ErrNeedBase; over == decoded {
			t.Errorf("decoder afterwards, %s: got %v", wire, err)
		}
	}
	if decoded {
		if err := replica.Apply([]Op{{Verb: Set, Path: P("a"), Value: 1.0}}); err != ErrNeedBase {
			t.Errorf("replica afterwards: got %v, want %v", err, ErrNeedBase)
		}
		if doc, ok := replica.Value(); ok {
			t.Errorf("replica afterwards: has the value %v", doc)
		}
	}
	if err := take(decoder, replica, `[["r",{"b":2}],["s",["a"],1]]`); err != nil {
		t.Fatalf("base batch afterwards: %v", err)
	}
	doc, _ := replica.Value()
	if diff := cmp.Diff(any(map[string]any{"a": 1.0, "b": 2.0}), doc); diff != "" {
		t.Errorf("after a base batch (-want +got):\n%s", diff)
	}
}

// errorType names the type of the error that a *BatchError wraps.
func errorType(err error) string {
	batch, ok := err.(*BatchError)
	if !ok {
		return "none"
	}
	switch batch.Cause.(type) {
	case *ShapeError:
		return "ShapeError"
	case *PathError:
		return "PathError"
	case *UnsafePathError:
		return "UnsafePathError"
	case *SyntaxError:
		return "SyntaxError"
	case *LimitError:
		return "LimitError"
	case *ValueError:
		return "ValueError"
	}
	return "another"
}
