// The case tables of chord, against JavaScript.

package interop

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/execagent/execagent/chord"
)

// testCase is one of chord's own case tables.
type testCase struct {
	Name  string
	Doc   any
	Wire  []string
	Want  any
	Error string
	JS    string // "rejects", or "accepts" for a reason
	Why   string
}

func readCases(t *testing.T, file string) []testCase {
	t.Helper()
	raw, err := os.ReadFile("../../chord/testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 30 {
		t.Fatalf("%s has only %d cases", file, len(cases))
	}
	return cases
}

// fold is what a consumer in Go does.
func fold(doc any, wires []string) (any, error) {
	var decoder chord.Decoder
	for _, wire := range wires {
		ops, err := decoder.Decode(nil, []byte(wire))
		if err != nil {
			return nil, err
		}
		if doc, err = chord.Apply(doc, ops); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

type verdict struct {
	Value any
	Error string
}

func (p *peer) fold(doc any, wires []string) (v verdict) {
	p.t.Helper()
	p.ask("refuse", map[string]any{"doc": doc, "wires": wires}, &v)
	return v
}

func TestValidBatches(t *testing.T) {
	p := startPeer(t)
	for _, c := range readCases(t, "valid.json") {
		if got := p.fold(c.Doc, c.Wire); got.Error != "" || !cmp.Equal(got.Value, c.Want) {
			t.Errorf("%s: JavaScript has %v, %s, want %v", c.Name, got.Value, got.Error, c.Want)
		}
		if got, err := fold(c.Doc, c.Wire); err != nil || !cmp.Equal(got, c.Want) {
			t.Errorf("%s: Go has %v, %v, want %v", c.Name, got, err, c.Want)
		}
	}
}

// TestHostileBatches: both refuse, but for the cases where we differ on purpose;
// those say why, and JavaScript has to differ still.
func TestHostileBatches(t *testing.T) {
	p := startPeer(t)
	differ := 0
	for _, c := range readCases(t, "hostile.json") {
		got := p.fold(c.Doc, c.Wire)
		if _, err := fold(c.Doc, c.Wire); err == nil {
			t.Errorf("%s: Go accepts %s", c.Name, c.Wire)
		}
		switch c.JS {
		case "rejects":
			if got.Error == "" {
				t.Errorf("%s: JavaScript accepts %s and has %v", c.Name, c.Wire, got.Value)
			}
		case "accepts":
			differ++
			if got.Error != "" {
				t.Errorf("%s: JavaScript rejects %s too: %s", c.Name, c.Wire, got.Error)
			}
			if !strings.HasPrefix(c.Why, "on purpose: ") {
				t.Errorf("%s: the table does not say why we differ", c.Name)
			}
		default:
			t.Errorf("%s: js is %q", c.Name, c.JS)
		}
	}
	if differ == 0 {
		t.Error("the table has no differences, but there are some")
	}
}

// TestLoneSurrogates: a JavaScript window that cuts an emoji in two cannot be
// followed, and says so; invalid bytes in Go are U+FFFD for both.
func TestLoneSurrogates(t *testing.T) {
	p := startPeer(t)
	var made struct{ Wires []string }
	p.ask("splitPair", map[string]any{}, &made)
	_, err := fold(nil, made.Wires)
	if syntax := new(chord.SyntaxError); !errors.As(err, &syntax) || syntax.Reason != "lone surrogate in a string" {
		t.Errorf("%s: got %v, want a SyntaxError about a lone surrogate", made.Wires, err)
	}

	d, err := chord.NewDocument(map[string]any{"t": "a\xff"})
	if err != nil {
		t.Fatal(err)
	}
	var encoder chord.Encoder
	wires := []string{encode(t, &encoder, d.Flush(nil))}
	if err := d.Append(chord.P("t"), "b\xed\xa0\xbd"); err != nil {
		t.Fatal(err)
	}
	wires = append(wires, encode(t, &encoder, d.Flush(nil)))
	want := map[string]any{"t": "a\uFFFDb\uFFFD\uFFFD\uFFFD"}
	if got := p.fold(nil, wires); got.Error != "" || !cmp.Equal(got.Value, any(want)) {
		t.Errorf("%s: JavaScript has %v, %s, want %v", wires, got.Value, got.Error, want)
	}
	if diff := cmp.Diff(any(want), d.Value()); diff != "" {
		t.Errorf("the document (-want +got):\n%s", diff)
	}
}
