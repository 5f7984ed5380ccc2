// Helpers of all tests of the package.

package spill

import (
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long a test waits for what must happen; reaching it is a failure.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		writeUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}

// openStore opens a store on a new directory and closes it with the test.
func openStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.TempDir()+"/spill", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// createFile makes a file that is closed with the test at the latest.
func createFile(t testing.TB, s *Store, id string, opts FileOptions) *File {
	t.Helper()
	f, err := create(s, id, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// create makes the file of an execution that has settled: nothing but the file is its subject.
func create(s *Store, id string, opts FileOptions) (*File, error) {
	r, err := s.Begin(id, nil, nothing)
	if err != nil {
		return nil, err
	}
	f, err := r.Create(opts)
	if err != nil {
		r.Discard()
		return nil, err
	}
	return f, r.Settle(nil)
}

// nothing is the totals of a command that prints nothing.
func nothing() (bytes, lines int64) { return 0, 0 }

// unlimited is a budget that any File keeps within.
type unlimited struct{}

func (unlimited) grant(n int64) (int64, error) { return n, nil }
func (unlimited) refund(int64)                 {}
func (unlimited) closed()                      {}

// readFile returns what a reader of the file finds now.
func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// setUmask sets the umask of the process for the rest of the test.
func setUmask(t *testing.T, mask int) {
	t.Helper()
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

// waitUntil polls cond until it holds or patience is at its end.
func waitUntil(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// receive returns the next value of c.
func receive[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
		panic("unreachable")
	}
}
