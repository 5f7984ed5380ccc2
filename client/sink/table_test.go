package sink

import (
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/limits"
	"go.etcd.io/bbolt"
)

var onDisk = flag.Bool("sink.disk", false, "have the journal of TestTable in TMPDIR and not in memory")

// buildOutput is 256 KiB of what a build prints, in so many pieces of whole lines.
func buildOutput(pieces int) [][]byte {
	const size = 256 << 10
	var all [][]byte
	var piece []byte
	for i, written := 0, 0; written < size; i++ {
		line := fmt.Appendf(nil, "[%4d/3400] CXX obj/src/component_%02x/unit_%d.o  -O2 -Wall -Iinclude\n", i, i%251, i*7919%10007)
		written += len(line)
		if piece = append(piece, line...); written >= size*(len(all)+1)/pieces {
			all, piece = append(all, piece), nil
		}
	}
	return all
}

// figures are what one way of writing a call comes to.
type figures struct {
	flushes, batches, replayed int
	ops, whole, left           int // bytes
	flush, durable, marshal    []time.Duration
}

// micros is the median.
func micros(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Nanoseconds()) / 1e3
}

// counting counts what goes to a journal.
type counting struct {
	journal.Journal
	f *figures
}

func (c *counting) Append(key journal.Key, batch func() (journal.Batch, error)) error {
	return c.Journal.Append(key, func() (journal.Batch, error) {
		b, err := batch()
		c.f.ops += len(b.Wire)
		c.f.batches++
		return b, err
	})
}

// measure writes the output of a build, with rebase every rebaseEvery batches or never.
func measure(t *testing.T, pieces int, rebase bool) (f figures) {
	out, err := New[struct{}](limits.Limits{MaxBytes: 50 << 10})
	must(t, err)
	path := filepath.Join(memoryDir(t), "journal")
	if *onDisk {
		path = filepath.Join(t.TempDir(), "journal")
	}
	j := openJournalAt(t, path)
	p := newPublication(out.Output, &counting{j, &f}, journal.Key(testCall.CallID), func([]chord.Op) {})
	must(t, p.begin(journal.Header{Tool: "build"}))
	p.flush()
	f = figures{}
	for _, piece := range buildOutput(pieces) {
		out.Write(piece)
		begin := time.Now()
		p.flush()
		f.durable = append(f.durable, time.Since(begin))
		f.flushes++
		if !rebase {
			p.sinceBase = 0
			continue
		}
		begin = time.Now()
		whole, err := json.Marshal(out.doc.Value())
		must(t, err)
		f.marshal = append(f.marshal, time.Since(begin))
		f.whole += len(whole)
	}
	r, err := j.Recover(journal.Key(testCall.CallID))
	must(t, err)
	f.replayed = r.Batches
	must(t, j.Settle(testCall.Run, []byte("done")))
	must(t, j.Close())
	f.left = left(t, path)
	f.flush = flushTimes(t, pieces)
	return f
}

// flushTimes is what each flush takes without a journal.
func flushTimes(t *testing.T, pieces int) (times []time.Duration) {
	out, err := New[struct{}](limits.Limits{MaxBytes: 50 << 10})
	must(t, err)
	p := newPublication(out.Output, nil, journal.Key(testCall.CallID), func([]chord.Op) {})
	p.flush()
	for _, piece := range buildOutput(pieces) {
		out.Write(piece)
		begin := time.Now()
		p.flush()
		times = append(times, time.Since(begin))
	}
	return times
}

// left is the size of all names and values in the journal.
func left(t *testing.T, path string) (size int) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	must(t, err)
	defer db.Close()
	var count func(b *bbolt.Bucket) error
	count = func(b *bbolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			size += len(k) + len(v)
			if v == nil {
				return count(b.Bucket(k))
			}
			return nil
		})
	}
	must(t, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error { return count(b) })
	}))
	return size
}

// TestTable measures what the documentation of the package says, and prints it with -v. It
// judges sizes, which are the same everywhere, and no times.
func TestTable(t *testing.T) {
	var table strings.Builder
	for _, pieces := range []int{20, 500} {
		with, without := measure(t, pieces, true), measure(t, pieces, false)
		fmt.Fprintf(&table, "%d flushes: %d bytes as ops (%d without rebase), %d as whole values, ratio %.1f; %d bytes left after retirement; %d batches replayed (%d without rebase); %.1f µs a flush, %.0f µs with the journal, %.0f µs to marshal the whole\n",
			with.flushes, with.ops, without.ops, with.whole, float64(with.whole)/float64(with.ops), with.left, with.replayed, without.replayed,
			micros(with.flush), micros(with.durable), micros(with.marshal))
		if with.flushes != pieces {
			t.Errorf("%d flushes, want %d", with.flushes, pieces)
		}
		if without.ops > 2*(256<<10) || with.ops*2 > with.whole {
			t.Errorf("%d flushes: %d bytes as ops, %d without rebase, %d as whole values", pieces, with.ops, without.ops, with.whole)
		}
		if with.replayed > rebaseEvery+1 || without.replayed != pieces+1 {
			t.Errorf("%d flushes: %d batches replayed, %d without rebase", pieces, with.replayed, without.replayed)
		}
		if with.left > 100 {
			t.Errorf("%d flushes: %d bytes are left", pieces, with.left)
		}
	}
	t.Logf("\n%s", &table)
}

// BenchmarkFlush is a flush of 100 bytes into a full window of 50 KiB, without a journal.
func BenchmarkFlush(b *testing.B) {
	out, err := New[testDetails](limits.Limits{MaxBytes: 50 << 10})
	must(b, err)
	p := newPublication(out.Output, nil, journal.Key(testCall.CallID), func([]chord.Op) {})
	for _, piece := range buildOutput(20) {
		out.Write(piece)
	}
	p.flush()
	line := []byte(strings.Repeat("x", 99) + "\n")
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		out.Write(line)
		p.flush()
	}
}
