// Tests of what a store finds in a directory that another one used before it.

package spill

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// crash leaves the directory as a killed process does: nothing is settled, the lock is dropped.
func crash(t testing.TB, s *Store) {
	t.Helper()
	mustDo(t, s.Close())
}

func TestRestart(t *testing.T) {
	dir := t.TempDir() + "/spill"
	first := openAt(t, dir, Options{})
	totals := func() (bytes, lines int64) { return 13, 2 }
	begun := make(map[string]*Record)
	for _, id := range []string{"running", "settled", "silent"} {
		r, err := first.Begin(id, json.RawMessage(`{"is":"`+id+`"}`), totals)
		mustDo(t, err)
		begun[id] = r
	}
	paths := make(map[string]string)
	for _, id := range []string{"running", "settled"} {
		f, err := begun[id].Create(FileOptions{})
		mustDo(t, err)
		f.Write([]byte("hello\nworld\n!"))
		mustDo(t, f.Close())
		paths[id] = f.Path()
	}
	begun["running"].tick(t)
	mustDo(t, begun["settled"].Settle(json.RawMessage(`{"result":1}`)))
	crash(t, first)

	second := openAt(t, dir, Options{})
	for id, want := range map[string]Info{
		"running": {Manifest: Manifest{State: Lost, Safe: 13, Bytes: 13, Lines: 2, Detail: json.RawMessage(`{"is":"running"}`)}, Path: paths["running"], Size: 13},
		"settled": {Manifest: Manifest{State: Settled, Safe: 13, Bytes: 13, Lines: 2, Detail: json.RawMessage(`{"result":1}`)}, Path: paths["settled"], Size: 13},
		"silent":  {Manifest: Manifest{State: Lost, Detail: json.RawMessage(`{"is":"silent"}`)}},
	} {
		got, err := second.Find(id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		want.ID, want.Version = id, 1
		if diff := cmp.Diff(want, *got, cmpopts.IgnoreFields(Manifest{}, "Begun", "Changed", "Ended", "File")); diff != "" {
			t.Errorf("%s after the restart (-want +got):\n%s", id, diff)
		}
		if got.Begun.IsZero() || got.Changed.Before(got.Begun) || got.Ended.Before(got.Changed) {
			t.Errorf("%s: begun %v, last changed %v, ended %v: want them in this order", id, got.Begun, got.Changed, got.Ended)
		}
	}
	if _, err := second.Find("nobody"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown id: %v, want ErrUnknown", err)
	}
	lost, err := second.Find("running")
	mustDo(t, err)
	crash(t, second)
	third := openAt(t, dir, Options{})
	again, err := third.Find("running")
	mustDo(t, err)
	if !again.Ended.Equal(lost.Ended) {
		t.Errorf("lost at %v, and after one more restart at %v: want the first", lost.Ended, again.Ended)
	}
}

// tick writes the manifest as the timer would.
func (r *Record) tick(t testing.TB) {
	t.Helper()
	r.timers.Add(1)
	r.timeout()
}

// What a crash left stays for the floor, whatever the quotas say, and then goes.
func TestFloor(t *testing.T) {
	dir := t.TempDir() + "/spill"
	first := openAt(t, dir, Options{})
	r, err := first.Begin("lost", nil, nothing)
	mustDo(t, err)
	f, err := r.Create(FileOptions{})
	mustDo(t, err)
	f.Write(make([]byte, 100_000))
	mustDo(t, f.Close())
	crash(t, first)

	const total = 2*RecordCharge + 150_000
	s := openAt(t, dir, Options{MaxTotal: total, Floor: time.Hour, MaxAge: time.Minute})
	s.sweep()
	cut := spilled(t, s, "new", 100_000)
	wantLimit(t, cut.Err(), StoreQuota, total, 50_000)
	if _, err := os.Stat(f.Path()); err != nil {
		t.Errorf("the lost file within the floor: %v", err)
	}
	now := s.now().Add(2 * time.Hour)
	s.mu.Lock()
	s.now = func() time.Time { return now }
	s.mu.Unlock()
	spilled(t, s, "newer", 100_000)
	if _, err := os.Stat(f.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lost file after the floor: %v, want it swept", err)
	}
}

// Whatever lies in the directory is charged, and goes in its time, or is left alone.
func TestLoadHostileDirectory(t *testing.T) {
	dir := t.TempDir() + "/spill"
	mkdir(t, dir, 0o700)
	write := func(name string, size int) {
		mustDo(t, os.WriteFile(dir+"/"+name, make([]byte, size), 0o600))
	}
	write("broken.json", 100)
	write("big.json", 1<<20)
	write("orphan-abcd2345.out", 5000)
	write("half.json.tmp", 10)
	write("notes.txt", 10)
	mkdir(t, dir+"/dir-abcd2345.out", 0o700)
	mustDo(t, os.Symlink("/etc/passwd", dir+"/link-abcd2345.out"))
	forged := sample
	forged.File = "build-17-gone2345.out" // is not there
	b, err := forged.encode()
	mustDo(t, err)
	mustDo(t, os.WriteFile(dir+"/build-17.json", b, 0o600))

	s := openAt(t, dir, Options{})
	if want := int64(3*RecordCharge + 5000); s.used != want {
		t.Errorf("%d bytes are charged, want %d: three manifests and a file", s.used, want)
	}
	if i, err := s.Find("build-17"); err != nil || i.Path != "" || i.Safe != 0 || i.Bytes != sample.Bytes {
		t.Errorf("a manifest without its file: %+v, %v, want no path and nothing safe", i, err)
	}
	if _, err := s.Find("broken"); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("a broken manifest: %v, want an error about it", err)
	}
	if _, err := s.Output("build-17"); !errors.As(err, new(*NoFileError)) {
		t.Errorf("the output of what has no file: %v, want a *NoFileError", err)
	}
	now := s.now().Add(2 * DefaultMaxAge)
	s.mu.Lock()
	s.now = func() time.Time { return now }
	s.mu.Unlock()
	s.sweep()
	want := []string{"dir-abcd2345.out", "link-abcd2345.out", "lock", "notes.txt"}
	if got := names(t, dir); !cmp.Equal(got, want) {
		t.Errorf("in the end the directory has %q, want %q", got, want)
	}
}

// A second store on a directory uses one of its own, and the first looks after what it leaves.
func TestTwoStores(t *testing.T) {
	dir := t.TempDir() + "/spill"
	first := openAt(t, dir, Options{})
	second := openAt(t, dir, Options{})
	third := openAt(t, dir, Options{})
	for i, s := range []*Store{first, second, third} {
		want := dir
		if i > 0 {
			want = fmt.Sprintf("%s/agent-%d", dir, i+1)
		}
		if s.Dir() != want {
			t.Errorf("store %d is in %q, want %q", i, s.Dir(), want)
		}
	}
	f := spilled(t, second, "x", 10)
	if _, err := first.Find("x"); !errors.Is(err, ErrUnknown) {
		t.Errorf("the first knows what the second did: %v", err)
	}
	now := first.now().Add(DefaultMaxAge / 2)
	first.mu.Lock()
	first.now = func() time.Time { return now }
	first.mu.Unlock()
	mustDo(t, second.Close())
	first.sweepIdle() // not yet
	if _, err := os.Stat(f.Path()); err != nil {
		t.Error(err)
	}
	now = now.Add(DefaultMaxAge)
	first.sweepIdle()
	if got, want := names(t, dir), []string{"agent-3", "lock"}; !cmp.Equal(got, want) {
		t.Errorf("the directory has %q, want %q: what is too old gone, what is in use there", got, want)
	}
	if again := openAt(t, dir, Options{}); again.Dir() != dir+"/agent-2" {
		t.Errorf("one more store is in %q, want agent-2 again", again.Dir())
	}
}

func TestTooManyStores(t *testing.T) {
	dir := t.TempDir() + "/spill"
	for range maxStores {
		openAt(t, dir, Options{})
	}
	_, err := Open(dir, Options{})
	wantDirError(t, err, dir, "in use by 64 agents")
}

// 10 000 manifests are read within bounds, and a store is open before they are.
func TestLoadMany(t *testing.T) {
	dir := mountTmpfs(t, "size=256m") + "/spill" // making so many files is not the subject
	mkdir(t, dir, 0o700)
	m := sample
	m.State = Settled
	for i := range maxRecords {
		m.ID = fmt.Sprint("x", i)
		m.File = fileName(m.ID, "abcd2345")
		b, err := m.encode()
		mustDo(t, err)
		mustDo(t, os.WriteFile(dir+"/"+manifestName(m.ID), b, 0o600))
	}
	begun := time.Now()
	s, err := Open(dir, Options{MaxAge: 100 * 365 * 24 * time.Hour})
	mustDo(t, err)
	t.Cleanup(func() { mustDo(t, s.Close()) })
	opened := time.Since(begun)
	<-s.loaded
	t.Logf("open after %v, %d manifests read after %v", opened, maxRecords, time.Since(begun))
	if got := len(idsOf(s)); got != maxRecords {
		t.Errorf("%d executions are known, want %d", got, maxRecords)
	}
	if took := time.Since(begun); took > patience {
		t.Errorf("reading them took %v", took)
	}
}
