// A real disk that gets full: a small tmpfs.

package spill

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

func TestFullFileSystem(t *testing.T) {
	mount := mountTmpfs(t, "size=1m")
	s, err := Open(mount+"/spill", Options{KeepFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	source := randomBytes(3, 2<<20)
	told := make(chan error, 2)
	f := createFile(t, s, "full", FileOptions{OnError: func(err error) { told <- err }})
	for rest := source; len(rest) > 0; {
		n := min(len(rest), 4099) // no multiple of a page: the disk gets full within a write
		_, _ = f.Write(rest[:n])  // a command goes on writing
		rest = rest[n:]
	}
	closeErr := f.Close()
	wantWriteError(t, closeErr, f.Safe())
	if !errors.Is(closeErr, syscall.ENOSPC) || len(told) != 1 || <-told != closeErr {
		t.Errorf("Close() = %v and OnError was called %d times, want ENOSPC once", closeErr, len(told))
	}
	got := readFile(t, f.Path())
	if int64(len(got)) != f.Safe() || !bytes.HasPrefix(source, []byte(got)) {
		t.Errorf("file of %d bytes, Safe() = %d: want that prefix of the source", len(got), f.Safe())
	}
	if len(got) < 512<<10 {
		t.Errorf("only %d bytes were preserved on a disk of 1 MiB", len(got))
	}

	// With room again, a new file of the same store works.
	mustDo(t, os.Remove(f.Path()))
	again := createFile(t, s, "full", FileOptions{})
	again.Write(source[:512<<10])
	if err := again.Close(); err != nil {
		t.Errorf("Close() with room again = %v, want nil", err)
	}
}

// No room for the name itself: an error, not a File.
func TestCreateOnFullFileSystem(t *testing.T) {
	const taken = 3 // the root, the directory, the lock
	for inodes := taken; inodes < taken+2; inodes++ {
		mount := mountTmpfs(t, fmt.Sprintf("size=1m,nr_inodes=%d", inodes))
		s, err := Open(mount+"/spill", Options{KeepFree: -1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := create(s, "x", FileOptions{}); !errors.Is(err, syscall.ENOSPC) || CauseOf(err) != NoInodes {
			t.Errorf("Create with %d inodes: error %v, cause %s, want ENOSPC, %s", inodes, err, CauseOf(err), NoInodes)
		}
		mustDo(t, s.Close())
	}
}

// mountTmpfs mounts a tmpfs for the test.
func mountTmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("mounting a tmpfs: %v (run as root with CAP_SYS_ADMIN)", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}
