// This file opens, replaces and removes the agent's socket on Linux.

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	socketMode = 0o600

	// probeTimeout is how long a listener may take to accept the connection
	// that asks whether it is alive.
	probeTimeout = 2 * time.Second

	// lockRetry is the pause before asking again for a directory another
	// process has locked.
	lockRetry = 10 * time.Millisecond
)

// listenUnix opens path under a lock on its directory: between finding a dead
// socket and replacing it no other agent may do the same.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	unlock, err := lockDirectory(ctx, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := clearPath(ctx, path); err != nil {
		return nil, err
	}
	return bindSocket(ctx, path)
}

// lockDirectory takes the advisory lock on a directory, which leaves no file
// behind.
func lockDirectory(ctx context.Context, dir string) (unlock func(), err error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening its directory %q: %w: create it first", dir, err)
	}
	for {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { unix.Close(fd) }, nil
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			unix.Close(fd)
			return nil, fmt.Errorf("locking its directory %q: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			unix.Close(fd)
			return nil, fmt.Errorf("locking its directory %q, which another process has locked: %w", dir, ctx.Err())
		case <-time.After(lockRetry):
		}
	}
}

// clearPath makes sure that nothing is at path, removing only a dead socket.
func clearPath(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("something that is no socket is there (%v): remove it or use another path", info.Mode())
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		conn.Close()
		return fmt.Errorf("%w: something answers there: stop it or use another path", ErrAddressInUse)
	case errors.Is(err, syscall.EAGAIN), ctx.Err() != nil:
		return fmt.Errorf("%w: the one that listens there does not answer: stop it or use another path", ErrAddressInUse)
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return fmt.Errorf("asking whether the socket there is in use: %w", err)
}

// bindSocket creates the socket. The kernel takes the mode of the file from
// that of the unbound socket, less the umask, so the file never has a wider one;
// changing it afterwards would leave a moment, and the umask is the process's.
func bindSocket(ctx context.Context, path string) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var chmodErr error
		err := c.Control(func(fd uintptr) { chmodErr = unix.Fchmod(int(fd), socketMode) })
		return errors.Join(err, chmodErr)
	}}
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	ul := l.(*net.UnixListener)
	ul.SetUnlinkOnClose(false) // it would remove whatever is there by then
	info, err := os.Lstat(path)
	if err != nil {
		ul.Close()
		return nil, err
	}
	return &unixListener{UnixListener: ul, path: path, info: info}, nil
}

// unixListener accepts connections of the same user and of root.
type unixListener struct {
	*net.UnixListener
	path string      // "" when the socket is somebody else's to remove
	info fs.FileInfo // of the socket when it was made
}

// Accept returns the next connection; see Listen for those of other users.
func (l *unixListener) Accept() (net.Conn, error) {
	conn, err := l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	if why := checkPeer(conn, os.Geteuid()); why != nil {
		conn.Close()
		return &refusedConn{conn, why}, nil
	}
	return conn, nil
}

// Close stops listening and removes the socket if it still is this one.
func (l *unixListener) Close() error {
	err := l.UnixListener.Close()
	if l.path == "" {
		return err
	}
	if now, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(now, l.info) {
		err = errors.Join(err, os.Remove(l.path))
	}
	return err
}

// checkServer asks the kernel who listens at the other end of a unix socket.
func checkServer(conn io.ReadWriteCloser) error {
	if c, ok := conn.(*link); ok {
		if uc, ok := c.Conn.(*net.UnixConn); ok {
			if why := checkPeer(uc, os.Geteuid()); why != nil {
				return why
			}
		}
	}
	return nil
}

// checkPeer asks the kernel who connected or listens. The answer is as of connect(2) or
// listen(2): a process that changed its user since counts as what it was.
func checkPeer(conn *net.UnixConn, own int) *PeerError {
	raw, err := conn.SyscallConn()
	if err != nil {
		return &PeerError{UID: -1, Own: own, Err: err}
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, credErr); err != nil {
		return &PeerError{UID: -1, Own: own, Err: err}
	}
	if uid := int(cred.Uid); uid != own && uid != 0 {
		return &PeerError{UID: uid, Own: own}
	}
	return nil
}
