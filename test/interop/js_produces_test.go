// Direction two: JavaScript produces, Go folds.

package interop

import (
	"testing"

	"github.com/execagent/execagent/chord"
)

// TestJavaScriptProduces folds what the package's tracker and encoder made, and
// encodes it again, which has to give the same.
func TestJavaScriptProduces(t *testing.T) {
	p := startPeer(t)
	first := firstSeed()
	for i := range *streams {
		s := uint32(first + uint64(i))
		var made struct{ Wires, Values []string }
		p.ask("produce", map[string]any{"seed": s, "batches": batchesPerStream}, &made)
		if len(made.Wires) != batchesPerStream {
			t.Fatalf("seed %d: %d batches", s, len(made.Wires))
		}
		var decoder chord.Decoder
		var encoder chord.Encoder
		var replica chord.Replica
		for n, wire := range made.Wires {
			ops, err := decoder.Decode(nil, []byte(wire))
			if err != nil {
				t.Fatalf("seed %d, batch %d: %v\n%s", s, n, err, wire)
			}
			own := encode(t, &encoder, ops)
			if d := diff(value(t, wire), value(t, own)); d != "" {
				t.Errorf("seed %d, batch %d: encoded otherwise (-js +go):\n%s", s, n, d)
			}
			if len(own) > len(wire) {
				t.Errorf("seed %d, batch %d: %d bytes, JavaScript makes %d\n%s\n%s", s, n, len(own), len(wire), own, wire)
			}
			if err := replica.Apply(ops); err != nil {
				t.Fatalf("seed %d, batch %d: %v\n%s", s, n, err, wire)
			}
			got, _ := replica.Value()
			if d := diff(value(t, made.Values[n]), got); d != "" {
				t.Fatalf("seed %d, batch %d: another value (-js +go):\n%s\n%s", s, n, d, wire)
			}
		}
	}
	t.Logf("%d batches from seed %d", *streams*batchesPerStream, first)
}
