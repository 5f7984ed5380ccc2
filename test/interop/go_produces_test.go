// Direction one: Go produces, JavaScript folds.

package interop

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/execagent/execagent/chord"
)

var (
	streams = flag.Int("interop.streams", 200, "random streams in each direction")
	seed    = flag.Uint64("interop.seed", 0, "seed of the first stream; 0 chooses one")
)

const batchesPerStream = 25

// firstSeed returns the seed to begin with. A failure names the stream's own,
// which -interop.seed=SEED -interop.streams=1 replays.
func firstSeed() uint64 {
	if *seed != 0 {
		return *seed
	}
	return uint64(rand.Uint32())
}

// TestGoProduces has the package fold what the encoder made of both producers.
func TestGoProduces(t *testing.T) {
	p := startPeer(t)
	first := firstSeed()
	var own, theirs int
	for i := range *streams {
		s := first + uint64(i)
		wires, values := goStream(t, s)
		var folded struct{ Values, Encoded []string }
		p.ask("fold", map[string]any{"wires": wires}, &folded)
		for n, want := range values {
			if d := diff(want, value(t, folded.Values[n])); d != "" {
				t.Fatalf("seed %d, batch %d: JavaScript has another value (-go +js):\n%s\n%s", s, n, d, wires[n])
			}
			// Its encoder, given the same operations, has to make the same of them.
			if d := diff(value(t, folded.Encoded[n]), value(t, wires[n])); d != "" {
				t.Fatalf("seed %d, batch %d: JavaScript encodes otherwise (-js +go):\n%s", s, n, d)
			}
			own += len(wires[n])
			theirs += len(folded.Encoded[n])
		}
	}
	if own != theirs {
		t.Errorf("%d bytes on the wire, JavaScript makes %d of the same operations", own, theirs)
	}
	t.Logf("%d batches from seed %d, %d bytes", *streams*2*batchesPerStream, first, own)
}

// goStream returns the batches of a Document and of a Tracker that follows it,
// each with the value that it leads to.
func goStream(t *testing.T, seed uint64) (wires []string, values []any) {
	r := rand.New(rand.NewPCG(seed, 2))
	d, err := chord.NewDocument(randomRoot(r))
	if err != nil {
		t.Fatal(err)
	}
	var tracker chord.Tracker
	var explicit, compared []string
	var explicitEncoder, comparedEncoder chord.Encoder
	for range batchesPerStream {
		for range r.IntN(6) {
			mutate(t, r, d)
		}
		if r.IntN(12) == 0 {
			d.Rebase()
			tracker.Rebase()
		}
		explicit = append(explicit, encode(t, &explicitEncoder, d.Flush(nil)))
		ops, err := tracker.Flush(d.Value())
		if err != nil {
			t.Fatal(err)
		}
		compared = append(compared, encode(t, &comparedEncoder, ops))
		text, err := json.Marshal(d.Value())
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, value(t, string(text)))
	}
	// One after the other: the second begins with a base batch, like any stream.
	return append(explicit, compared...), append(values, values...)
}

func encode(t *testing.T, e *chord.Encoder, ops []chord.Op) string {
	t.Helper()
	wire, err := e.Encode(nil, ops)
	if err != nil {
		t.Fatal(err)
	}
	return string(wire)
}
