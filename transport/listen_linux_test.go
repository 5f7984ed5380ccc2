// This file holds the tests of sockets that appear, are taken, and go.

package transport

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func socketAddress(t testing.TB) Address {
	return Address{SchemeUnix, filepath.Join(t.TempDir(), "agent.sock")}
}

// deadSocket leaves a socket behind that nobody serves.
func deadSocket(t testing.TB, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

func mustListen(t testing.TB, a Address) net.Listener {
	t.Helper()
	l, err := Listen(testContext(t), a, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestSocketMode(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	a := socketAddress(t)
	mustListen(t, a)
	info, err := os.Lstat(a.Target)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v, %v; want %v", info.Mode(), err, fs.ModeSocket|0o600)
	}
}

// TestSocketIsNeverWider looks at the directory all the while sockets come and
// go in it.
func TestSocketIsNeverWider(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	a := socketAddress(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	var seen atomic.Int64
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if info, err := os.Lstat(a.Target); err == nil {
				seen.Add(1)
				if info.Mode().Perm() != 0o600 {
					t.Errorf("mode %v for a moment", info.Mode())
				}
			}
		}
	}()
	ctx := testContext(t)
	for n := 0; n < 300 || seen.Load() < 300; n++ {
		l, err := Listen(ctx, a, Options{})
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	close(stop)
	<-stopped
}

func TestListenAtTakenPaths(t *testing.T) {
	t.Run("alive", func(t *testing.T) {
		a := socketAddress(t)
		first := mustListen(t, a)
		accepted := make(chan struct{})
		go func() {
			defer close(accepted)
			if conn, err := first.Accept(); err == nil {
				conn.Close()
			}
		}()
		if err := listenError(a); !errors.Is(err, ErrAddressInUse) || !strings.Contains(err.Error(), "something answers") {
			t.Errorf("error %v, want ErrAddressInUse", err)
		}
		<-accepted
		if _, err := os.Lstat(a.Target); err != nil {
			t.Errorf("the live socket is gone: %v", err)
		}
	})
	t.Run("alive, full backlog", func(t *testing.T) {
		a := socketAddress(t)
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			defer unix.Close(fd)
			err = errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: a.Target}), unix.Listen(fd, 0))
		}
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("unix", a.Target)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := listenError(a); !errors.Is(err, ErrAddressInUse) || !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("error %v, want ErrAddressInUse", err)
		}
	})
	t.Run("dead", func(t *testing.T) {
		a := socketAddress(t)
		deadSocket(t, a.Target)
		l := mustListen(t, a)
		conn, err := DialConn(testContext(t), a, Options{})
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		l.Close()
	})
	for name, put := range map[string]func(path string) error{
		"file":           func(path string) error { return os.WriteFile(path, []byte("precious"), 0o600) },
		"directory":      func(path string) error { return os.Mkdir(path, 0o700) },
		"dangling link":  func(path string) error { return os.Symlink(path+"-nowhere", path) },
		"link to a file": func(path string) error { return os.Symlink("/etc/passwd", path) },
		"named pipe":     func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			a := socketAddress(t)
			if err := put(a.Target); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(a.Target)
			err := listenError(a)
			if err == nil || errors.Is(err, ErrAddressInUse) || !strings.Contains(err.Error(), a.Target) {
				t.Errorf("error %v, want one that names the path", err)
			}
			if after, err := os.Lstat(a.Target); err != nil || !os.SameFile(before, after) {
				t.Errorf("what was there was touched: %v, %v", after, err)
			}
		})
	}
	t.Run("datagram socket", func(t *testing.T) {
		a := socketAddress(t)
		defer datagramSocket(t, a.Target)()
		if err := listenError(a); !errors.Is(err, syscall.EPROTOTYPE) {
			t.Errorf("error %v, want %v", err, syscall.EPROTOTYPE)
		}
		if _, err := os.Lstat(a.Target); err != nil {
			t.Errorf("the socket is gone: %v", err)
		}
	})
	t.Run("no directory", func(t *testing.T) {
		a := Address{SchemeUnix, filepath.Join(t.TempDir(), "missing", "s")}
		if err := listenError(a); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "create it") {
			t.Errorf("error %v, want fs.ErrNotExist and the remedy", err)
		}
	})
	t.Run("locked directory", func(t *testing.T) {
		a := socketAddress(t)
		unlock, err := lockDirectory(testContext(t), filepath.Dir(a.Target))
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		defer cancel()
		if _, err := Listen(ctx, a, Options{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want context.DeadlineExceeded", err)
		}
	})
}

func datagramSocket(t *testing.T, path string) (stop func()) {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	return func() { conn.Close() }
}

// TestListenRace lets many agents find the same dead socket. One may have it,
// and must keep it.
func TestListenRace(t *testing.T) {
	for range 20 {
		a := socketAddress(t)
		deadSocket(t, a.Target)
		const agents = 8
		listeners := make(chan net.Listener, agents)
		var wg sync.WaitGroup
		for range agents {
			wg.Go(func() {
				l, err := Listen(testContext(t), a, Options{})
				if err == nil {
					listeners <- l
				} else if !errors.Is(err, ErrAddressInUse) {
					t.Errorf("Listen: %v", err)
				}
			})
		}
		wg.Wait()
		close(listeners)
		if len(listeners) != 1 {
			t.Fatalf("%d of %d agents listen, want 1", len(listeners), agents)
		}
		conn, err := DialConn(testContext(t), a, Options{})
		if err != nil {
			t.Fatalf("the one that listens cannot be reached: %v", err)
		}
		conn.Close()
		(<-listeners).Close()
	}
}

func TestCloseRemovesItsOwnSocketOnly(t *testing.T) {
	a := socketAddress(t)
	l := mustListen(t, a)
	l.Close()
	if _, err := os.Lstat(a.Target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close: %v, want no socket", err)
	}
	l = mustListen(t, a)
	if err := os.Remove(a.Target); err != nil {
		t.Fatal(err)
	}
	mustListen(t, a)
	l.Close()
	if _, err := os.Lstat(a.Target); err != nil {
		t.Errorf("Close removed the socket of another: %v", err)
	}
}

func TestDialErrors(t *testing.T) {
	a := socketAddress(t)
	remedy := "execagent serve --listen " + a.String()
	for name, prepare := range map[string]func(){
		"nothing there": func() {},
		"dead":          func() { deadSocket(t, a.Target) },
	} {
		prepare()
		var got *DialError
		if err := dialError(a); !errors.As(err, &got) || got.Address != a || !strings.Contains(err.Error(), remedy) {
			t.Errorf("%s: error %v, want a *DialError that says %q", name, err, remedy)
		}
	}
}
