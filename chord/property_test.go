// The promise of the package: whatever happens to a document, every replica of it
// follows.

package chord

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	rounds = flag.Int("chord.rounds", 100_000, "batches to test convergence with")
	seed   = flag.Uint64("chord.seed", 0, "seed of the first stream; 0 chooses one")
)

// batchesPerStream is how many batches each of a stream's two producers makes.
const batchesPerStream = 25

// TestConvergence runs streams of random changes. Each is one seed, which a
// failure prints; -chord.seed=SEED -chord.rounds=1 replays it.
func TestConvergence(t *testing.T) {
	first := *seed
	if first == 0 {
		first = rand.Uint64()
	}
	streams := max(1, *rounds/(2*batchesPerStream)) // each has two followers
	if testing.Short() {
		streams = min(streams, 200)
	}
	for i := range streams {
		s := first + uint64(i)
		runStream(t, s)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d batches from seed %d", streams*2*batchesPerStream, first)
}

func runStream(t *testing.T, seed uint64) {
	defer func() {
		if t.Failed() {
			t.Logf("replay with -run=%s -chord.rounds=1 -chord.seed=%d", t.Name(), seed)
		}
	}()
	newStream(t, seed).run()
}

// stream is a document with both producers, and everyone who follows them.
type stream struct {
	t    *testing.T
	r    *rand.Rand
	want any // what the oracle has

	document *Document
	explicit follower
	tracker  Tracker
	compared follower
}

func newStream(t *testing.T, seed uint64) *stream {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &stream{t: t, r: r, want: randomRoot(r)}
	var err error
	if s.document, err = NewDocument(s.want); err != nil {
		t.Fatal(err)
	}
	s.want = clone(s.want)
	return s
}

func (s *stream) run() {
	for range batchesPerStream {
		for range s.r.IntN(6) {
			s.change()
		}
		if s.r.IntN(12) == 0 {
			s.document.Rebase()
			s.tracker.Rebase()
		}
		// Looking at the value must make no difference to the next batch.
		if s.r.IntN(2) == 0 {
			s.equal("document", s.document.Value())
		}

		s.explicit.follow(s, s.document.Flush(nil))
		ops, err := s.tracker.Flush(s.want)
		if err != nil {
			s.t.Fatal(err)
		}
		s.compared.follow(s, ops)
		if ops, err = s.tracker.Flush(s.want); len(ops) != 0 || err != nil {
			s.t.Errorf("tracker: flush without a change: %v, %v", ops, err)
		}
		if ops := s.document.Flush(nil); len(ops) != 0 {
			s.t.Errorf("document: flush without a change: %v", ops)
		}
		if s.t.Failed() {
			return
		}
	}
}

// change carries out one random change, with the oracle and with the document.
func (s *stream) change() {
	if s.r.IntN(60) == 0 {
		s.want = randomRoot(s.r)
		if err := s.document.Replace(s.want); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	op := randomOp(s.r, s.want)

	s.want = oracle(s.want, op)
	if err := perform(s.document, &op); err != nil {
		s.t.Fatalf("document: %v %v: %v", op.Verb, op.Path, err)
	}
}

func perform(d *Document, op *Op) error {
	switch op.Verb {
	case Set:
		return d.Set(op.Path, op.Value)
	case Delete:
		return d.Delete(op.Path)
	case Append:
		return d.Append(op.Path, op.Text)
	case Truncate:
		return d.Truncate(op.Path, op.Count)
	case Splice:
		return d.Splice(op.Path, op.Index, op.Remove, op.Items...)
	default:
		return d.Move(op.Path, op.Perm)
	}
}

func (s *stream) equal(who string, got any) {
	if !equal(s.want, got) {
		s.t.Errorf("%s differs (-want +got):\n%s", who, cmp.Diff(s.want, got))
	}
}

// follower is one stream of batches on its way to replicas of every kind.
type follower struct {
	encoder Encoder
	decoder Decoder
	replica Replica
	plain   any // by Apply
	frozen  any // by ApplyImmutable

	late        Decoder // began at the last base batch
	lateReplica Replica // by Fold
}

func (f *follower) follow(s *stream, ops []Op) {
	wire, err := f.encoder.Encode(nil, ops)
	if err != nil {
		s.t.Fatalf("encode: %v", err)
	}
	if err := ValidateWire(wire); err != nil {
		s.t.Errorf("validate: %v\n%s", err, wire)
	}
	if IsBase(ops) {
		f.late, f.lateReplica = Decoder{}, Replica{}
	}
	decoded := f.decode(s, &f.decoder, wire)
	if !slices.EqualFunc(ops, decoded, equalOps) {
		s.t.Errorf("decoded differs (-want +got):\n%s\n%s", diffOps(ops, decoded), wire)
	}
	before, kept := f.frozen, clone(f.frozen)
	if f.frozen, err = ApplyImmutable(f.frozen, decoded); err != nil {
		s.t.Fatalf("apply immutable: %v\n%s", err, wire)
	}
	if !equal(before, kept) {
		s.t.Errorf("ApplyImmutable changed its argument\n%s", wire)
	}
	if f.plain, err = Apply(f.plain, cloneOps(decoded)); err != nil {
		s.t.Fatalf("apply: %v\n%s", err, wire)
	}
	folded := slices.Clone(wire)
	if err := f.lateReplica.Fold(&f.late, folded); err != nil {
		s.t.Fatalf("late replica: %v\n%s", err, wire)
	}
	clear(folded) // to which it must not refer
	clear(f.late.scratch[:cap(f.late.scratch)])
	if err := f.replica.Apply(cloneOps(decoded)); err != nil {
		s.t.Fatalf("replica: %v\n%s", err, wire)
	}
	value, _ := f.replica.Value()
	s.equal("replica", value)
	if s.r.IntN(3) == 0 { // the other one is not looked at after each batch
		value, _ = f.lateReplica.Value()
		s.equal("late replica", value)
	}
	s.equal("applied", f.plain)
	s.equal("applied immutable", f.frozen)
	if s.t.Failed() {
		s.t.Logf("batch: %s", wire)
	}
}

func (f *follower) decode(s *stream, d *Decoder, wire []byte) []Op {
	ops, err := d.Decode(nil, wire)
	if err != nil {
		s.t.Fatalf("decode: %v\n%s", err, wire)
	}
	return ops
}

// equalOps is what diffOps finds, fast.
func equalOps(a, b Op) bool {
	return a.Verb == b.Verb && a.Path.Equal(b.Path) && equal(a.Value, b.Value) && a.Text == b.Text &&
		a.Count == b.Count && a.Index == b.Index && a.Remove == b.Remove &&
		slices.EqualFunc(a.Items, b.Items, equal) && slices.Equal(a.Perm, b.Perm)
}

func diffOps(want, got []Op) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.AllowUnexported(Segment{}))
}

func cloneOps(ops []Op) []Op {
	copied := make([]Op, len(ops))
	for i, op := range ops {
		op.Value = clone(op.Value)
		op.Items = cloneItems(op.Items)
		copied[i] = op
	}
	return copied
}
