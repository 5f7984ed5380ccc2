// The directory: made, opened and checked so that nobody else can reach into it.

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
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
	others   fs.FileMode = 0o077 // any permission for group or other
)

// openDir makes dir (an absolute path) if it is missing and opens it, or returns a *DirError.
// What is checked is what was opened, so that exchanging the path meanwhile gains nothing.
func openDir(dir string) (*os.Root, error) {
	made, err := makeDir(dir)
	if err != nil {
		return nil, &DirError{dir, "cannot be created", "create it with mode 0700, or name another directory", err}
	}
	named, err := os.Lstat(dir)
	if err != nil {
		return nil, unusable(dir, err)
	}
	if err := checkKind(dir, named); err != nil {
		return nil, err
	}
	// The dot makes a FIFO, put there meanwhile, an error instead of a wait.
	root, err := os.OpenRoot(dir + "/.")
	if err != nil {
		return nil, unusable(dir, err)
	}
	if err := checkOpened(dir, root, named, made); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// makeDir reports whether dir did not exist and was made.
func makeDir(dir string) (made bool, err error) {
	err = os.Mkdir(dir, dirMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
			return false, err
		}
		err = os.Mkdir(dir, dirMode)
	}
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// checkKind refuses what is not itself a directory.
func checkKind(dir string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return &DirError{dir, "is a symbolic link", "name the directory it leads to", nil}
	case !info.IsDir():
		return &DirError{dir, "is not a directory", "remove it, or name another directory", nil}
	}
	return nil
}

// checkOpened refuses a root that is not the directory named, or that others can use.
func checkOpened(dir string, root *os.Root, named fs.FileInfo, made bool) error {
	if made {
		// A umask can have taken bits away from us.
		if err := root.Chmod(".", dirMode); err != nil {
			return unusable(dir, err)
		}
	}
	opened, err := root.Stat(".")
	if err != nil {
		return unusable(dir, err)
	}
	if !os.SameFile(named, opened) {
		return &DirError{dir, "was replaced while it was opened", "name a directory whose parent only this user can write", nil}
	}
	if owner, self := ownerOf(opened), os.Geteuid(); owner != self {
		return &DirError{dir, fmt.Sprintf("is owned by uid %d, not by uid %d", owner, self), "name a directory of this user", nil}
	}
	if perm := opened.Mode().Perm(); perm&others != 0 {
		return &DirError{dir, fmt.Sprintf("has mode %04o, which lets others in", perm), "chmod 0700 it", nil}
	}
	return nil
}

// unusable wraps an error of the operating system.
func unusable(dir string, err error) *DirError {
	return &DirError{dir, "cannot be opened", "name a directory of this user with mode 0700", err}
}

// ownerOf returns the uid of a file, or -1 where the system does not tell.
func ownerOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
