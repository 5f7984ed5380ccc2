// Who uses a directory: one store at a time, by a lock that dies with its process.

package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	lockName = "lock"
	// maxStores is how many stores can use one directory at a time: the first the directory
	// itself, each other a subdirectory of its own.
	maxStores = 64
)

// errInUse says that another store has the directory.
var errInUse = errors.New("in use by another agent")

// place is a directory that is ours: opened, checked and locked.
type place struct {
	dir  string
	root *os.Root
	lock *os.File
}

// takePlace takes base, or when that is in use the first of its subdirectories that is not. Any
// error is a [*DirError].
func takePlace(base string) (*place, error) {
	p, err := makePlace(base)
	for n := 2; errors.Is(err, errInUse); n++ {
		if n > maxStores {
			return nil, &DirError{base, fmt.Sprintf("is in use by %d agents", maxStores), "name another directory", nil}
		}
		p, err = makePlace(numbered(base, n))
	}
	return p, err
}

// makePlace is lockPlace, again if the directory was removed between its making and its
// locking, as an idle one is.
func makePlace(dir string) (p *place, err error) {
	for range createAttempts {
		if p, err = lockPlace(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return p, err
}

// numbered is the subdirectory of base for its nth user.
func numbered(base string, n int) string { return filepath.Join(base, fmt.Sprintf("agent-%d", n)) }

// lockPlace takes dir. The error wraps errInUse, or is a [*DirError].
func lockPlace(dir string) (*place, error) {
	root, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	lock, err := takeLock(root)
	if err != nil {
		root.Close()
		if errors.Is(err, errInUse) {
			return nil, err
		}
		return nil, &DirError{dir, "cannot be locked", "make room in it, or name another directory", err}
	}
	return &place{dir, root, lock}, nil
}

// takeLock opens the lock file and locks it. The kernel drops the lock when the last
// descriptor is closed, at the latest when the process dies.
func takeLock(root *os.Root) (*os.File, error) {
	lock, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, fileMode)
	if err != nil {
		return nil, explainSpace(root, err)
	}
	for {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	if err == nil {
		return lock, nil
	}
	lock.Close()
	if err == syscall.EWOULDBLOCK {
		return nil, errInUse
	}
	return nil, err
}

func (p *place) close() error { return errors.Join(p.root.Close(), p.lock.Close()) }

// isNamed reports whether the path still leads to the directory.
func (p *place) isNamed() bool {
	named, err := os.Lstat(p.dir)
	if err != nil {
		return false
	}
	opened, err := p.root.Stat(".")
	return err == nil && os.SameFile(named, opened)
}
