// SPEC.md is held to the code: its numbers, its example and its table of forms.

package chord

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestSpecification(t *testing.T) {
	raw, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	spec := string(raw)
	for _, row := range []string{
		fmt.Sprintf("| bytes of a batch | %d |", DefaultMaxBytes),
		fmt.Sprintf("| operations of a batch, definitions included | %d |", DefaultMaxOps),
		fmt.Sprintf("| definitions since the last `r` | %d |", DefaultMaxPaths),
		fmt.Sprintf("| segments of a path | %d |", DefaultMaxPathDepth),
		fmt.Sprintf("| containers around a value, itself included | %d |", DefaultMaxNesting),
		fmt.Sprintf("more than %d changes", maxChanges),
	} {
		if !strings.Contains(spec, row) {
			t.Errorf("SPEC.md does not say %q", row)
		}
	}

	_, example, _ := strings.Cut(spec, "```json\n")
	example, _, _ = strings.Cut(example, "```")
	batches := strings.Split(strings.TrimSpace(example), "\n")
	if len(batches) != 4 {
		t.Fatalf("the example has %d batches, want 4", len(batches))
	}
	var decoder Decoder
	var encoder Encoder
	var replica Replica
	for _, wire := range batches {
		ops, err := decoder.Decode(nil, []byte(wire))
		if err != nil {
			t.Fatalf("%s: %v", wire, err)
		}
		if got, err := encoder.Encode(nil, ops); err != nil || string(got) != wire {
			t.Errorf("encoded again: %s, %v, want %s", got, err, wire)
		}
		if err := replica.Apply(ops); err != nil {
			t.Errorf("%s: %v", wire, err)
		}
	}
	doc, _ := replica.Value()
	got, err := appendValue(nil, doc, 0)
	if want := `{"text":"cc -c b.c\ncc -c c.c\n","truncation":{"totalBytes":30}}`; err != nil || string(got) != want {
		t.Errorf("the example leads to %s, %v, want %s", got, err, want)
	}
}

// TestArity: every verb takes the numbers of elements that SPEC.md says, no others.
func TestArity(t *testing.T) {
	raw, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(.)` \\| (\\d|–) \\| (\\d|–)").FindAllStringSubmatch(string(raw), -1)
	if len(rows) != 8 {
		t.Fatalf("SPEC.md has %d rows of forms, want 8", len(rows))
	}
	// Arguments that are right at their place, whatever comes after.
	inline := map[string][]string{
		"s": {`["x"]`, `1`}, "d": {`["x"]`}, "a": {`["x"]`, `"y"`}, "t": {`["x"]`, `0`},
		"p": {`["x"]`, `0`, `0`, `[]`}, "m": {`["x"]`, `[]`}, "#": {`0`, `["x"]`}, "r": {`1`},
	}
	for _, row := range rows {
		verb, short, long := row[1], row[2], row[3]
		arguments := append(inline[verb], `1`, `1`)
		for n := range len(arguments) + 1 {
			// Explicit, and with the path left out, after an operation that has one.
			explicit := fmt.Sprintf(`[[%s]]`, strings.Join(append([]string{`"` + verb + `"`}, arguments[:n]...), ","))
			want := fmt.Sprint(n+1) == long || verb == "r" && fmt.Sprint(n+1) == short
			if err := ValidateWire([]byte(explicit)); (err == nil) != want && fmt.Sprint(n+1) != short {
				t.Errorf("%s: %v, want valid %v", explicit, err, want)
			}
			if n == 0 || verb == "r" || verb == "#" {
				continue
			}
			omitted := fmt.Sprintf(`[["d",["x"]],[%s]]`, strings.Join(append([]string{`"` + verb + `"`}, arguments[1:n]...), ","))
			want = fmt.Sprint(n) == short
			if err := ValidateWire([]byte(omitted)); (err == nil) != want && fmt.Sprint(n) != long {
				t.Errorf("%s: %v, want valid %v", omitted, err, want)
			}
		}
	}
}
