// This file holds the test that other users stay out.

package transport

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOtherUserIsRefused connects as nobody, from a thread of its own that has
// put off root.
func TestOtherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "transport") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	a := Address{SchemeUnix, filepath.Join(dir, "s")}
	l := mustListen(t, a)
	connected := make(chan error, 1)
	dial := func() { connected <- asUser(nobody, a.Target) }

	go dial()
	if err := <-connected; !errors.Is(err, fs.ErrPermission) {
		t.Errorf("connecting to %s as another user: %v, want no permission", a, err)
	}

	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(a.Target, 0o666)); err != nil { // what an agent must not rely on
		t.Fatal(err)
	}
	go dial()
	if err := <-connected; err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Server(testContext(t), conn, Options{})
	checkHandshakeError(t, err, ReasonRefused, []string{"user id 65534"})
	var peer *PeerError
	if !errors.As(err, &peer) || peer.UID != nobody || peer.Own != 0 {
		t.Errorf("error %v, want a *PeerError of user %d", err, nobody)
	}
}

// asUser connects and disconnects as another user. Its thread ends with its
// goroutine.
func asUser(uid int, path string) error {
	runtime.LockOSThread() // never unlocked
	const keep = ^uintptr(0)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
		return errno
	}
	// Should it be the main thread, that one stays.
	defer syscall.RawSyscall(syscall.SYS_SETRESUID, keep, 0, keep)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: path})
}
