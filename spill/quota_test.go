// Tests of the bounds: of one file, of the store, of the file system's free space.

package spill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// openWith opens a store with these bounds on a new directory and closes it with the test.
func openWith(t testing.TB, opts Options) *Store {
	t.Helper()
	return openAt(t, t.TempDir()+"/spill", opts)
}

func openAt(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	s, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	<-s.loaded
	return s
}

// spilled makes a closed file of so many bytes, of an execution that has settled.
func spilled(t testing.TB, s *Store, id string, size int) *File {
	t.Helper()
	f := createFile(t, s, id, FileOptions{})
	f.Write(make([]byte, size))
	f.Close()
	return f
}

// wantLimit checks that err says which bound cut a file, and where.
func wantLimit(t testing.TB, err error, cause Cause, limit, safe int64) {
	t.Helper()
	var writeErr *WriteError
	var limitErr *LimitError
	if !errors.As(err, &writeErr) || !errors.As(err, &limitErr) {
		t.Fatalf("error %v, want a *WriteError of a *LimitError", err)
	}
	if limitErr.Cause != cause || limitErr.Limit != limit || writeErr.Safe != safe || CauseOf(err) != cause {
		t.Errorf("error %v: cause %s, limit %d, %d safe bytes, want %s, %d, %d", err, limitErr.Cause, limitErr.Limit, writeErr.Safe, cause, limit, safe)
	}
	if !strings.Contains(err.Error(), fmt.Sprint(safe)) {
		t.Errorf("error %q does not say that the file was cut at byte %d", err, safe)
	}
}

// The quota cuts a file at its very byte, in the middle of a write or of the buffer.
func TestFileQuota(t *testing.T) {
	const quota = 300_000
	for _, piece := range []int{1, 4096, 7001, bufferSize, 2 * quota} {
		s := openWith(t, Options{MaxFile: quota})
		f := createFile(t, s, "x", FileOptions{})
		for written := 0; written < 2*quota; written += piece {
			f.Write(make([]byte, piece))
		}
		wantLimit(t, f.Close(), FileQuota, quota, quota)
		if info, err := os.Stat(f.Path()); err != nil || info.Size() != quota {
			t.Errorf("pieces of %d: file %v, %v, want %d bytes", piece, info, err, quota)
		}
	}
}

// When the store is full the oldest that has ended goes first, and none that is live.
func TestStoreQuotaSweepsOldestFirst(t *testing.T) {
	const size = 100_000
	s := openWith(t, Options{MaxTotal: 4 * (size + RecordCharge)})
	live := createFile(t, s, "live", FileOptions{})
	live.Write(make([]byte, size))
	mustDo(t, live.Flush())
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		f := spilled(t, s, id, size)
		if err := f.Err(); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
	if got, want := idsOf(s), []string{"live", "e", "d", "c"}; !cmp.Equal(got, want) {
		t.Errorf("the store has %q, want %q", got, want)
	}
	var kinds []string
	for _, name := range names(t, s.Dir()) {
		kinds = append(kinds, strings.FieldsFunc(name, func(r rune) bool { return r == '-' })[0])
	}
	if want := []string{"c", "c.json", "d", "d.json", "e", "e.json", "live", "live.json", "lock"}; !cmp.Equal(kinds, want) {
		t.Errorf("the directory has %q, want files of %q", kinds, want)
	}
}

// When all that could go is live, the file is cut where the store is full.
func TestStoreQuotaCuts(t *testing.T) {
	const total = 2*RecordCharge + 500_000
	s := openWith(t, Options{MaxTotal: total})
	live := createFile(t, s, "live", FileOptions{})
	live.Write(make([]byte, 400_000))
	mustDo(t, live.Flush())
	f := spilled(t, s, "x", 400_000)
	wantLimit(t, f.Err(), StoreQuota, total, 100_000)
	if _, err := s.Begin("y", nil, nothing); err != nil {
		t.Errorf("Begin with an ended file to sweep: %v", err)
	}
	if got := usage(t, s.Dir()); got > total {
		t.Errorf("the directory takes %d bytes, want at most %d", got, total)
	}
}

// A manifest too needs its room.
func TestBeginOnFullStore(t *testing.T) {
	s := openWith(t, Options{MaxTotal: 2*RecordCharge - 1})
	r, err := s.Begin("a", nil, nothing)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin("b", nil, nothing); CauseOf(err) != StoreQuota {
		t.Errorf("Begin without room: %v, want a store quota", err)
	}
	mustDo(t, r.Settle(nil))
	if _, err := s.Begin("b", nil, nothing); err != nil {
		t.Errorf("Begin after the other has ended: %v", err)
	}
}

// What others need of the file system is left to them, and old files go for it.
func TestKeepFree(t *testing.T) {
	s := openWith(t, Options{KeepFree: 1000})
	spilled(t, s, "old", 50_000)
	free := int64(41_000)
	s.mu.Lock()
	s.space = func(dir string) (space, bool) { // what the store takes is not free
		return space{free + 50_000 - s.taken(), 1 << 40}, true
	}
	s.mu.Unlock()
	f := spilled(t, s, "new", 60_000)
	if err := f.Err(); err != nil {
		t.Errorf("with an old file to sweep: %v", err)
	}
	if got, want := idsOf(s), []string{"new"}; !cmp.Equal(got, want) {
		t.Errorf("the store has %q, want %q", got, want)
	}
	live := createFile(t, s, "live", FileOptions{})
	live.Write(make([]byte, 80_000))
	mustDo(t, live.Flush())
	cut := spilled(t, s, "cut", 60_000)
	wantLimit(t, cut.Err(), LowSpace, 1000, 10_000)
}

// taken is what all files take, without manifests. The caller holds mu.
func (s *Store) taken() (n int64) {
	for _, e := range s.ended {
		n += e.size
	}
	for _, e := range s.records {
		if e.busy > 0 {
			n += e.size
		}
	}
	return n
}

func TestDefaultsLeaveRoomOnSmallFileSystems(t *testing.T) {
	for _, c := range []struct {
		space       space
		asked, want int64
	}{
		{space{total: 1 << 20}, 0, 1 << 20 / 10},
		{space{total: 1 << 50}, 0, DefaultKeepFree},
		{space{total: 1 << 20}, 5, 5},
		{space{total: 1 << 20}, -1, 0},
	} {
		if got := c.space.keep(c.asked); got != c.want {
			t.Errorf("of %d bytes, %d asked for, %d are kept free, want %d", c.space.total, c.asked, got, c.want)
		}
	}
}

// Files go when they are too old, whatever room there is.
func TestMaxAge(t *testing.T) {
	s := openWith(t, Options{MaxAge: time.Hour})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.mu.Lock()
	s.now = func() time.Time { return now }
	s.mu.Unlock()
	spilled(t, s, "a", 10)
	live := createFile(t, s, "live", FileOptions{})
	now = now.Add(time.Hour)
	spilled(t, s, "b", 10)
	s.sweep()
	if got, want := idsOf(s), []string{"live", "b", "a"}; !cmp.Equal(got, want) {
		t.Errorf("after an hour the store has %q, want %q", got, want)
	}
	now = now.Add(time.Second)
	s.sweep()
	if got, want := idsOf(s), []string{"live", "b"}; !cmp.Equal(got, want) {
		t.Errorf("after more than an hour the store has %q, want %q", got, want)
	}
	mustDo(t, live.Close())
	now = now.Add(3 * time.Hour)
	s.sweep()
	if got := idsOf(s); len(got) != 0 || len(names(t, s.Dir())) != 1 {
		t.Errorf("in the end the store has %q, and %q in its directory, want none but the lock", got, names(t, s.Dir()))
	}
	if s.used != 0 {
		t.Errorf("an empty store is charged %d bytes", s.used)
	}
}

func TestMostRecords(t *testing.T) {
	s := openWith(t, Options{})
	s.mu.Lock()
	s.most = 3
	s.mu.Unlock()
	for i := range 10 {
		r, err := s.Begin(fmt.Sprint(i), nil, nothing)
		if err != nil {
			t.Fatal(err)
		}
		mustDo(t, r.Settle(nil))
	}
	if got, want := idsOf(s), []string{"9", "8", "7"}; !cmp.Equal(got, want) {
		t.Errorf("the store has %q, want %q", got, want)
	}
}

// A file that cannot be removed is in nobody's way, and stays charged.
func TestSweepGoesOnAfterFailure(t *testing.T) {
	s := openWith(t, Options{MaxTotal: RecordCharge + 150_000})
	f := spilled(t, s, "a", 100_000)
	mustDo(t, os.Remove(f.Path()))
	mustDo(t, os.MkdirAll(f.Path()+"/full", 0o700)) // a directory that is not empty in its place
	cut := spilled(t, s, "b", 100_000)
	wantLimit(t, cut.Err(), StoreQuota, RecordCharge+150_000, 50_000)
}

// idsOf are the executions as the store lists them.
func idsOf(s *Store) (ids []string) {
	for i := range s.All() {
		ids = append(ids, i.ID)
	}
	return ids
}

// usage is what the files of a directory and of those below it hold, in bytes.
func usage(t testing.TB, dir string) (n int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	mustDo(t, err)
	for _, e := range entries {
		info, err := e.Info()
		mustDo(t, err)
		if e.IsDir() {
			n += usage(t, filepath.Join(dir, e.Name()))
			continue
		}
		n += info.Size()
	}
	return n
}
