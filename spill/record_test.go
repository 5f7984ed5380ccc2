// Tests of one execution's manifest while it lives, and of reading its output.

package spill

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// counter is a command's totals, for a test to set.
type counter struct{ bytes, lines atomic.Int64 }

func (c *counter) totals() (bytes, lines int64) { return c.bytes.Load(), c.lines.Load() }

// onDisk is the manifest that the next store would find.
func onDisk(t testing.TB, s *Store, id string) Manifest {
	t.Helper()
	m, err := getManifest(s.root(), id)
	mustDo(t, err)
	return *m
}

// The manifest follows the output, without being asked again for each change.
func TestManifestFollows(t *testing.T) {
	s := openStore(t)
	var c counter
	r, err := s.Begin("x", []byte(`1`), c.totals)
	mustDo(t, err)
	if m := onDisk(t, s, "x"); m.State != Running || m.File != "" || m.Bytes != 0 {
		t.Errorf("at the start: %+v", m)
	}
	f, err := r.Create(FileOptions{})
	mustDo(t, err)
	if m := onDisk(t, s, "x"); dirOf(s, m.File) != f.Path() {
		t.Errorf("with its file: %+v, want %s", m, f.Path())
	}
	for i := range 2 { // the timer is armed again
		f.Write([]byte("ten bytes\n"))
		mustDo(t, f.Flush())
		c.bytes.Add(10)
		c.lines.Add(1)
		r.Changed()
		r.Changed()
		want := int64(i+1) * 10
		waitUntil(t, "manifest of a command that printed", func() bool { return onDisk(t, s, "x").Bytes == want })
		if m := onDisk(t, s, "x"); m.Safe != want || m.Lines != want/10 {
			t.Errorf("%+v, want %d bytes safe", m, want)
		}
	}
	mustDo(t, r.Settle([]byte(`2`)))
	m := onDisk(t, s, "x")
	if m.State != Settled || string(m.Detail) != "2" || m.Safe != 20 || m.Ended.IsZero() {
		t.Errorf("settled: %+v", m)
	}
	r.Changed() // of what the command left running
	if s.live != 1 {
		t.Errorf("%d are live while the file is open, want 1", s.live)
	}
	mustDo(t, f.Close())
	if s.live != 0 {
		t.Errorf("%d are live after the file is closed, want none", s.live)
	}
	if after := onDisk(t, s, "x"); !cmp.Equal(m, after) {
		t.Errorf("the manifest changed after it was settled (-was +is):\n%s", cmp.Diff(m, after))
	}
}

func dirOf(s *Store, name string) string { return s.Dir() + "/" + name }

// Settling waits for the timer's goroutine, and nothing follows it.
func TestSettleStopsTimer(t *testing.T) {
	s := openStore(t)
	for range 100 {
		r, err := s.Begin("x", nil, nothing)
		mustDo(t, err)
		r.Changed()
		mustDo(t, r.Settle(nil))
	}
	r, err := s.Begin("x", nil, nothing)
	mustDo(t, err)
	r.Changed()
	r.Discard()
	if got := idsOf(s); len(got) != 0 || s.live != 0 || s.used != 0 {
		t.Errorf("after Discard the store has %q, %d live, %d bytes", got, s.live, s.used)
	}
	if got, want := names(t, s.Dir()), []string{"lock"}; !cmp.Equal(got, want) {
		t.Errorf("after Discard the directory has %q, want %q", got, want)
	}
}

// An id that runs is refused; one that has ended begins anew, and the old file goes its way.
func TestBeginAgain(t *testing.T) {
	s := openStore(t)
	first, err := s.Begin("x", []byte(`1`), nothing)
	mustDo(t, err)
	f, err := first.Create(FileOptions{})
	mustDo(t, err)
	f.Write([]byte("old"))
	if _, err := s.Begin("x", nil, nothing); !errors.Is(err, fs.ErrExist) {
		t.Errorf("beginning what runs: %v, want fs.ErrExist", err)
	}
	if _, err := first.Create(FileOptions{}); err == nil {
		t.Error("a second file is made")
	}
	mustDo(t, first.Settle(nil)) // and something it left running prints on
	second, err := s.Begin("x", []byte(`2`), nothing)
	mustDo(t, err)
	f.Write([]byte(" and on"))
	mustDo(t, f.Close())
	if i, err := s.Find("x"); err != nil || i.State != Running || string(i.Detail) != "2" || i.Path != "" {
		t.Errorf("found %+v, %v, want the second", i, err)
	}
	if got := readFile(t, f.Path()); got != "old and on" {
		t.Errorf("the first file holds %q", got)
	}
	mustDo(t, second.Settle(nil))
	if want := int64(RecordCharge + 10); s.used != want {
		t.Errorf("%d bytes are charged, want %d", s.used, want)
	}
	for s.sweepOldest() {
	}
	if got, want := names(t, s.Dir()), []string{"lock"}; !cmp.Equal(got, want) || s.used != 0 {
		t.Errorf("swept, the directory has %q and is charged %d, want %q", got, s.used, want)
	}
}

// A reader finds what a running command has printed so far.
func TestOutput(t *testing.T) {
	s := openStore(t)
	var c counter
	r, err := s.Begin("x", nil, c.totals)
	mustDo(t, err)
	if _, err := s.Output("x"); !errors.As(err, new(*NoFileError)) {
		t.Errorf("before there is a file: %v, want a *NoFileError", err)
	}
	if _, err := s.Output("y"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown id: %v, want ErrUnknown", err)
	}
	f, err := r.Create(FileOptions{})
	mustDo(t, err)
	f.Write([]byte("one\ntwo\n")) // waits in the buffer
	read := func() string {
		t.Helper()
		o, err := s.Output("x")
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		f.Write([]byte("later\n")) // the last time it is closed
		_ = f.Flush()
		b, err := io.ReadAll(o)
		mustDo(t, err)
		return string(b)
	}
	if got := read(); got != "one\ntwo\n" {
		t.Errorf("while it runs: %q, want what was printed by then", got)
	}
	mustDo(t, f.Close())
	mustDo(t, r.Settle(nil))
	if got := read(); got != "one\ntwo\nlater\n" {
		t.Errorf("at its end: %q", got)
	}
	mustDo(t, os.Remove(f.Path()))
	mustDo(t, os.Symlink("/etc/passwd", f.Path()))
	if o, err := s.Output("x"); err == nil {
		o.Close()
		t.Error("a link in the place of the file is followed")
	}
}

// A file that somebody removes is an error, not a path to nothing.
func TestRemovedFile(t *testing.T) {
	s := openStore(t)
	told := make(chan error, 1)
	r, err := s.Begin("x", nil, func() (bytes, lines int64) { return 100, 1 })
	mustDo(t, err)
	f, err := r.Create(FileOptions{OnError: func(err error) { told <- err }})
	mustDo(t, err)
	f.Write([]byte("some"))
	mustDo(t, f.Flush())
	mustDo(t, os.Remove(f.Path()))
	f.Write([]byte("more")) // only the timer meets it
	err = receive(t, "report of the removed file", told)
	if we := (*WriteError)(nil); !errors.As(err, &we) || we.Safe != 0 || CauseOf(err) != Removed {
		t.Errorf("error %v, want a *WriteError with nothing safe", err)
	}
	mustDo(t, r.Settle(nil))
	if m := onDisk(t, s, "x"); m.File != "" || m.Safe != 0 || m.Bytes != 100 {
		t.Errorf("its manifest: %+v, want no file", m)
	}
	if f.Close() != err {
		t.Errorf("Close() = %v, want %v", f.Close(), err)
	}
}

// The whole directory goes while commands run: theirs are lost, later ones have a new one.
func TestDirectoryVanishes(t *testing.T) {
	s := openStore(t)
	spilled(t, s, "old", 1000)
	live := createFile(t, s, "live", FileOptions{})
	live.Write([]byte("x"))
	mustDo(t, os.RemoveAll(s.Dir()))
	f := spilled(t, s, "new", 10)
	if f.Err() != nil || readFile(t, f.Path()) != string(make([]byte, 10)) {
		t.Errorf("in the new directory: %v", f.Err())
	}
	if err := live.Close(); CauseOf(err) != Removed {
		t.Errorf("the live one in the old directory: %v, want that it was removed", err)
	}
	if _, err := s.Find("old"); !errors.Is(err, ErrUnknown) {
		t.Errorf("what was in the old directory: %v, want ErrUnknown", err)
	}
	if want := int64(RecordCharge*2 + 11); s.used != want {
		t.Errorf("%d bytes are charged, want %d", s.used, want)
	}
}

// broken is a file that fails in a way of its own.
type broken struct {
	*os.File
	err error
}

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// Each kind of trouble has a word of its own, and later files are not concerned.
func TestCauses(t *testing.T) {
	s := openStore(t)
	for err, want := range map[error]Cause{
		syscall.ENOSPC: DiskFull, syscall.EDQUOT: DiskFull, syscall.EFBIG: SizeLimit, syscall.EIO: IOError,
		syscall.EROFS: Denied, syscall.EACCES: Denied, syscall.EPERM: Denied, syscall.ESTALE: IOError,
	} {
		s.wrap = func(f *os.File) io.WriteCloser { return broken{f, err} }
		f := spilled(t, s, "x", 10)
		if got := CauseOf(f.Err()); got != want || !errors.Is(f.Err(), err) {
			t.Errorf("%v: cause %s, want %s", f.Err(), got, want)
		}
		s.wrap = func(f *os.File) io.WriteCloser { return f }
		if f := spilled(t, s, "x", 10); f.Err() != nil {
			t.Errorf("after %v: %v", err, f.Err())
		}
	}
	if want := int64(RecordCharge + 8*10); s.used != want {
		t.Errorf("%d bytes are charged, want %d: what could not be written is given back", s.used, want)
	}
	_, err := Open("/proc/self/spill", Options{})
	if got := CauseOf(err); got != Directory {
		t.Errorf("%v: cause %s, want %s", err, got, Directory)
	}
}

// A store that is closed says so, and its files go on.
func TestClosedStore(t *testing.T) {
	s := openStore(t)
	r, err := s.Begin("x", nil, nothing)
	mustDo(t, err)
	f, err := r.Create(FileOptions{})
	mustDo(t, err)
	mustDo(t, s.Close())
	f.Write(make([]byte, 2*bufferSize))
	mustDo(t, f.Close())
	mustDo(t, r.Settle(nil))
	if _, err := s.Output("x"); err == nil {
		t.Error("a closed store is read")
	}
}
