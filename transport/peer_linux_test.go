// This file holds the test that other users stay out.

package transport

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
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

// TestOtherUserListens lets an agent without a token dial a socket that another user serves.
func TestOtherUserListens(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "transport")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	for _, uid := range []int{nobody, 0} {
		a := Address{SchemeUnix, filepath.Join(dir, "s"+strconv.Itoa(uid))}
		listening := make(chan error, 1)
		var fd int
		go func() {
			var err error
			fd, err = listenAs(uid, a.Target)
			listening <- err
		}()
		if err := <-listening; err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		conn, err := DialConn(testContext(t), a, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		var peer *PeerError
		if err := checkServer(conn); errors.As(err, &peer) != (uid == nobody) || peer != nil && peer.UID != nobody {
			t.Errorf("a socket that user %d serves: %v", uid, err)
		}
	}
}

// listenAs listens as another user, as asUser connects.
func listenAs(uid int, path string) (fd int, err error) {
	runtime.LockOSThread() // never unlocked
	const keep = ^uintptr(0)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
		return -1, errno
	}
	defer syscall.RawSyscall(syscall.SYS_SETRESUID, keep, 0, keep)
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 1))
	}
	return fd, err
}
