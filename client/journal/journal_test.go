package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/execagent/execagent/chord"
	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	key    = Key{"run", "turn", "call"}
	header = Header{Parent: "p", Tool: "bash", Args: json.RawMessage(`{"x":1}`), ReplaySafe: true, Started: time.Unix(5, 0).UTC()}
)

func open(t testing.TB) *Bolt { return openAt(t, filepath.Join(t.TempDir(), "journal")) }

func openAt(t testing.TB, path string) *Bolt {
	t.Helper()
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writer is a document that goes to a journal.
type writer struct {
	t   testing.TB
	doc *chord.Document
	enc chord.Encoder
}

func newWriter(t testing.TB) *writer {
	doc, err := chord.NewDocument(map[string]any{"text": "", "n": 0})
	must(t, err)
	return &writer{t: t, doc: doc}
}

// next changes the document and gives the batch.
func (w *writer) next(text string) func() (Batch, error) {
	return func() (Batch, error) {
		must(w.t, w.doc.Append(chord.P("text"), text))
		return w.flush()
	}
}

// base is next as a base batch.
func (w *writer) base(text string) func() (Batch, error) {
	return func() (Batch, error) {
		w.doc.Rebase()
		return w.next(text)()
	}
}

func (w *writer) flush() (Batch, error) {
	ops := w.doc.Flush(nil)
	if len(ops) == 0 {
		return Batch{}, nil
	}
	wire, err := w.enc.Encode(nil, ops)
	return Batch{wire, chord.IsBase(ops)}, err
}

func nothing() (Batch, error) { return Batch{}, nil }

// want checks what the journal knows of the call.
func want(t *testing.T, b *Bolt, text string, batches int, memos map[string][]byte, ended bool) {
	t.Helper()
	r, err := b.Recover(key)
	must(t, err)
	got, _ := r.Document.(map[string]any)
	if got["text"] != text || r.Batches != batches || (r.End != nil) != ended {
		t.Errorf("document %v from %d batches, end %v, want %q from %d", got, r.Batches, r.End, text, batches)
	}
	if d := cmp.Diff(memos, r.Memos); d != "" {
		t.Errorf("memos (-want +got):\n%s", d)
	}
	if d := cmp.Diff(header, r.Header); d != "" {
		t.Errorf("header (-want +got):\n%s", d)
	}
}

// TestLife is a call from its begin to its retirement, with the journal closed and opened between
// any two transactions.
func TestLife(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	w := newWriter(t)
	none := map[string][]byte{}
	memo := map[string][]byte{"m": []byte("1")}
	for _, step := range []struct {
		do    func(b *Bolt) error
		check func(b *Bolt)
	}{
		{func(b *Bolt) error { return b.Begin(key, header) }, func(b *Bolt) {
			r, err := b.Recover(key)
			must(t, err)
			if r.Document != nil || r.Batches != 0 {
				t.Errorf("a call without a batch: %+v", r)
			}
		}},
		{func(b *Bolt) error { return b.Append(key, w.next("a")) }, func(b *Bolt) { want(t, b, "a", 1, none, false) }},
		{func(b *Bolt) error { return b.Append(key, w.next("b")) }, func(b *Bolt) { want(t, b, "ab", 2, none, false) }},
		{func(b *Bolt) error { return b.Append(key, nothing) }, func(b *Bolt) { want(t, b, "ab", 2, none, false) }},
		{func(b *Bolt) error { return b.SetMemo(key, "m", []byte("1"), w.base("c")) }, func(b *Bolt) { want(t, b, "abc", 1, memo, false) }},
		{func(b *Bolt) error { return b.Append(key, w.next("d")) }, func(b *Bolt) { want(t, b, "abcd", 2, memo, false) }},
		{func(b *Bolt) error { return b.SetMemo(key, "n", []byte{}, w.base("e")) }, func(b *Bolt) {
			want(t, b, "abcde", 1, map[string][]byte{"m": []byte("1"), "n": {}}, false)
		}},
		{func(b *Bolt) error { return b.SetMemo(key, "n", nil, w.base("")) }, func(b *Bolt) { want(t, b, "abcde", 1, memo, false) }},
		{func(b *Bolt) error { return b.End(key, End{IsError: true}, w.next("f")) }, func(b *Bolt) { want(t, b, "abcdef", 2, memo, true) }},
		{func(b *Bolt) error { return b.Settle("run", []byte("outcome")) }, func(b *Bolt) {
			outcome, err := b.Outcome("run")
			if err != nil || string(outcome) != "outcome" {
				t.Errorf("outcome %q, %v", outcome, err)
			}
			if keys, err := b.Pending(); err != nil || len(keys) != 0 {
				t.Errorf("pending %v, %v", keys, err)
			}
			if _, err := b.Recover(key); !errors.Is(err, ErrSettled) {
				t.Errorf("recovering gives %v, want ErrSettled", err)
			}
			if err := b.Settle("run", []byte("other")); !errors.Is(err, ErrSettled) {
				t.Errorf("settling again gives %v, want ErrSettled", err)
			}
			for name, err := range map[string]error{
				"Begin": b.Begin(key, header), "Append": b.Append(key, nothing), "End": b.End(key, End{}, nothing),
				"SetMemo": b.SetMemo(key, "m", nil, nothing),
			} {
				if !errors.Is(err, ErrSettled) {
					t.Errorf("%s gives %v, want ErrSettled", name, err)
				}
			}
		}},
		{func(b *Bolt) error { return b.Forget("run") }, func(b *Bolt) {
			if _, err := b.Outcome("run"); !errors.Is(err, ErrUnknown) {
				t.Errorf("outcome gives %v, want ErrUnknown", err)
			}
			if _, err := b.Recover(key); !errors.Is(err, ErrUnknown) {
				t.Errorf("recovering gives %v, want ErrUnknown", err)
			}
		}},
	} {
		b := openAt(t, path)
		must(t, step.do(b))
		must(t, b.Close())
		b = openAt(t, path)
		step.check(b)
		must(t, b.Close())
	}
}

// TestAtomic: a transaction whose batch fails leaves nothing, neither memo nor output.
func TestAtomic(t *testing.T) {
	b, w := open(t), newWriter(t)
	must(t, b.Begin(key, header))
	must(t, b.Append(key, w.next("a")))
	boom := errors.New("boom")
	fails := func() (Batch, error) { return Batch{Wire: []byte("[]")}, boom }
	for name, err := range map[string]error{
		"Append": b.Append(key, fails), "SetMemo": b.SetMemo(key, "m", []byte("1"), fails), "End": b.End(key, End{}, fails),
	} {
		if !errors.Is(err, boom) {
			t.Errorf("%s gives %v, want %v", name, err, boom)
		}
	}
	want(t, b, "a", 1, map[string][]byte{}, false)
}

// TestPending: calls of several runs, with names that would run into each other when joined.
func TestPending(t *testing.T) {
	b := open(t)
	keys := []Key{{"a", "", "b/c"}, {"a", "b", "c"}, {"a", "b/c", "d"}, {"a", "b", "c/d"}, {"b", "\x00", "\xff"}}
	for _, k := range keys {
		must(t, b.Begin(k, header))
		if err := b.Begin(k, header); !errors.Is(err, ErrKnown) {
			t.Errorf("%v begun twice gives %v, want ErrKnown", k, err)
		}
	}
	compare := func(x, y Key) int { return strings.Compare(x.Run+x.Turn+"|"+x.ID, y.Run+y.Turn+"|"+y.ID) }
	got, err := b.Pending()
	must(t, err)
	slices.SortFunc(got, compare)
	slices.SortFunc(keys, compare)
	if d := cmp.Diff(keys, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	must(t, b.Settle("a", nil))
	if got, err := b.Pending(); err != nil || len(got) != 1 || got[0].Run != "b" {
		t.Errorf("after settling a: %v, %v", got, err)
	}
}

// TestSizes: what has no size that a journal takes is a *LimitError.
func TestSizes(t *testing.T) {
	b := open(t)
	must(t, b.Begin(key, header))
	long := strings.Repeat("x", MaxKeyBytes+1)
	huge := func() (Batch, error) { return Batch{Wire: make([]byte, MaxRecordBytes+1)}, nil }
	for name, err := range map[string]error{
		"no run":          b.Begin(Key{"", "t", "c"}, header),
		"no call":         b.Begin(Key{"r", "t", ""}, header),
		"a long run":      b.Begin(Key{long, "t", "c"}, header),
		"a long turn":     b.Begin(Key{"r", long, "c"}, header),
		"a long call":     b.Begin(Key{"r", "t", long}, header),
		"no memo name":    b.SetMemo(key, "", nil, nothing),
		"a long memo":     b.SetMemo(key, "m", make([]byte, MaxMemoBytes+1), nothing),
		"a long name":     b.SetMemo(key, long, nil, nothing),
		"a long batch":    b.Append(key, huge),
		"a long outcome":  b.Settle("x", make([]byte, MaxRecordBytes+1)),
		"a nameless run":  b.Settle("", nil),
		"an empty lookup": func() error { _, err := b.Recover(Key{}); return err }(),
	} {
		if limit := (*LimitError)(nil); !errors.As(err, &limit) {
			t.Errorf("%s gives %v, want a *LimitError", name, err)
		}
	}
}

// TestInUse: two processes do not write one file. (Two opens of one process are as two processes
// to the lock.)
func TestInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	openAt(t, path)
	if _, err := Open(path); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file's mode is %v, want it private", info.Mode())
	}
}

// TestOlderNeverLast: batches are asked for inside the transaction, so that with many writers
// each one's list is in the order of its states.
func TestOlderNeverLast(t *testing.T) {
	b, w := open(t), newWriter(t)
	must(t, b.Begin(key, header))
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for range 10 {
				if i == 0 {
					must(t, b.SetMemo(key, "m", []byte("1"), w.base("x")))
				} else {
					must(t, b.Append(key, w.next("x")))
				}
			}
		})
	}
	writers.Wait()
	r, err := b.Recover(key)
	must(t, err)
	if got, want := r.Document.(map[string]any)["text"], strings.Repeat("x", 40); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// record is where a test finds a record to damage.
func record(tx *bbolt.Tx, path ...string) (*bbolt.Bucket, []byte) {
	b := tx.Bucket(bucketPending).Bucket([]byte("run")).Bucket(key.inRun())
	for _, p := range path[:len(path)-1] {
		b = b.Bucket([]byte(p))
	}
	return b, []byte(path[len(path)-1])
}

// TestDamaged: a record that cannot be read is an error that says which, and one of a newer
// version says that.
func TestDamaged(t *testing.T) {
	const first = "\x00\x00\x00\x00\x00\x00\x00\x01"
	newer, corrupt := (*VersionError)(nil), (*CorruptError)(nil)
	for _, c := range []struct {
		name   string
		path   []string
		record string
		newer  bool
	}{
		{"header", []string{"header"}, "\x01{", false},
		{"newer header", []string{"header"}, "\x02anything", true},
		{"empty header", []string{"header"}, "", false},
		{"version 0", []string{"header"}, "\x00{}", false},
		{"end", []string{"end"}, "\x01[]", false},
		{"newer end", []string{"end"}, "\xff", true},
		{"empty memo", []string{"memos", "m"}, "", false},
		{"newer memo", []string{"memos", "m"}, "\x02", true},
		{"newer batch", []string{"batches", first}, "\x02\x01", true},
		{"batch without a tag", []string{"batches", first}, "\x01", false},
		{"batch with another tag", []string{"batches", first}, "\x01\x02[]", false},
		{"batch that is no JSON", []string{"batches", first}, "\x01\x01[", false},
		{"base that is none", []string{"batches", first}, "\x01\x01[[\"a\",[\"text\"],\"x\"]]", false},
		{"no base", []string{"batches", first}, "\x01\x00[[\"a\",[\"text\"],\"x\"]]", false},
		{"batch of an unknown verb", []string{"batches", first}, "\x01\x01[[\"r\",1],[\"x\",[\"a\"]]]", false},
	} {
		b, w := open(t), newWriter(t)
		must(t, b.Begin(key, header))
		must(t, b.SetMemo(key, "m", []byte("1"), w.base("a")))
		must(t, b.End(key, End{}, nothing))
		must(t, b.db.Update(func(tx *bbolt.Tx) error {
			bucket, name := record(tx, c.path...)
			return bucket.Put(name, []byte(c.record))
		}))
		_, err := b.Recover(key)
		if c.newer && !errors.As(err, &newer) || !c.newer && !errors.As(err, &corrupt) {
			t.Errorf("%s: got %v", c.name, err)
		}
		must(t, b.Close())
	}
}

// TestNoJournal: a file that is something else is an error, and stays as it is.
func TestNoJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	content := bytes.Repeat([]byte("this is somebody's text\n"), 1000)
	must(t, os.WriteFile(path, content, 0o600))
	_, err := Open(path)
	if corrupt := (*CorruptError)(nil); !errors.As(err, &corrupt) {
		t.Errorf("got %v, want a *CorruptError", err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the file was changed: %v", err)
	}
	if _, err := Open(filepath.Join(path, "x")); err == nil {
		t.Error("a path through a file is opened")
	}
}

// TestErrors is what errors say.
func TestErrors(t *testing.T) {
	cause := errors.New("cause")
	for _, c := range []struct {
		err  error
		want string
	}{
		{&LimitError{"memo name", 300, 255}, "journal: a memo name of 300 bytes: give at most 255"},
		{&LimitError{"run", 0, 1024}, "journal: an empty run: give 1 to 1024 bytes"},
		{&CorruptError{"it", cause}, "journal: it is damaged: cause"},
		{&VersionError{"it", 9}, "journal: it is of version 9, this program knows 1: use the newer program"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if !errors.Is(&CorruptError{"it", cause}, cause) {
		t.Error("the cause of a CorruptError is not found")
	}
}

// TestGuard: the panics and faults by which bbolt reports a damaged page are errors.
func TestGuard(t *testing.T) {
	for name, f := range map[string]func() error{
		"a panic": func() error { panic("assertion failed: page 7") },
		"a fault": func() error { return (*bbolt.Tx)(nil).Commit() },
	} {
		if corrupt := (*CorruptError)(nil); !errors.As(guard("it", f), &corrupt) {
			t.Errorf("%s is no *CorruptError", name)
		}
	}
}

// FuzzRecover: whatever a batch is, reading it is a document or an error.
func FuzzRecover(f *testing.F) {
	f.Add([]byte("\x01\x01[[\"r\",{\"text\":\"\"}]]"), []byte("\x01\x00[[\"a\",[\"text\"],\"x\"]]"))
	f.Add([]byte("\x01\x01[[\"r\",[1,2]]]"), []byte("\x01\x00[[\"m\",[],[1,0]]]"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var batches []Batch
		for _, record := range [][]byte{first, second} {
			b, err := unsealBatch("it", record)
			if err != nil {
				return
			}
			batches = append(batches, b)
		}
		var r Record
		if err := r.fold(batches, "it"); err == nil && !batches[0].Base {
			t.Fatalf("%q, %q is read without a base", first, second)
		}
		_, _ = parseKey(first, second)
	})
}
