// The store: one private directory in which files are created.

package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// createAttempts bounds the search for a free name. Two equal suffixes in a row mean that
// somebody plants names, not bad luck.
const createAttempts = 4

// A Store is an open spill directory. It is made by [Open], may be used by any number of
// goroutines, and is closed by whoever opened it; its Files outlive it.
type Store struct {
	dir    string
	suffix func() string // a new random part of a name

	mu   sync.Mutex // guards root; held while a file is created, not while it is written
	root *os.Root   // the directory that was checked, wherever its path leads by now; nil once closed
}

// Open opens the directory dir for spill files and makes it, and its parents, with mode 0700
// if it is missing. Any error is a [*DirError]: Open refuses a symbolic link, what is not a
// directory, a directory of another user, and one with permissions for group or others.
func Open(dir string) (*Store, error) {
	if dir == "" {
		return nil, &DirError{dir, "has no name", "name a directory", nil}
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, &DirError{dir, "has no absolute path", "name it by one", err}
	}
	root, err := openDir(absolute)
	if err != nil {
		return nil, err
	}
	return &Store{dir: absolute, suffix: randomSuffix, root: root}, nil
}

// Dir returns the absolute path of the directory.
func (s *Store) Dir() string { return s.dir }

// Create makes a new file for the output of the command id (see [MaxIDLength] and
// [ErrInvalidID]), named after it with a random part and the ending ".out". A directory that
// was removed is made again; one that was replaced by something that Open would refuse is a
// [*DirError]. The caller closes the File.
func (s *Store) Create(id string, opts FileOptions) (*File, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ensureRoot(); err != nil {
		return nil, err
	}
	out, err := s.create(id)
	if err != nil {
		return nil, fmt.Errorf("spill: create file in %q: %w", s.dir, err)
	}
	return newFile(filepath.Join(s.dir, filepath.Base(out.Name())), out, opts), nil
}

// Close gives the directory back. Open files stay usable; Create fails from now on with
// [fs.ErrClosed]. It may be called twice.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil {
		return nil
	}
	err := s.root.Close()
	s.root = nil
	return err
}

// ensureRoot opens the directory again if its path no longer leads to it. Staying with the
// old one would be as safe, but would hand out paths at which there is no file.
func (s *Store) ensureRoot() error {
	if s.root == nil {
		return fmt.Errorf("spill: create file in %q: store is closed: %w", s.dir, fs.ErrClosed)
	}
	if s.rootIsNamed() {
		return nil
	}
	root, err := openDir(s.dir)
	if err != nil {
		return err
	}
	s.root.Close()
	s.root = root
	return nil
}

func (s *Store) rootIsNamed() bool {
	named, err := os.Lstat(s.dir)
	if err != nil {
		return false
	}
	opened, err := s.root.Stat(".")
	return err == nil && os.SameFile(named, opened)
}

// create makes the file under a name that is free.
func (s *Store) create(id string) (*os.File, error) {
	var err error
	for range createAttempts {
		var out *os.File
		if out, err = s.createNamed(fileName(id, s.suffix())); !errors.Is(err, fs.ErrExist) {
			return out, err
		}
	}
	return nil, err
}

// createNamed makes the file. O_EXCL alone refuses a symbolic link as the last element, and
// os.Root adds O_NOFOLLOW and O_CLOEXEC.
func (s *Store) createNamed(name string) (*os.File, error) {
	out, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	// The umask can have taken bits away from us.
	if err := out.Chmod(fileMode); err != nil {
		return nil, errors.Join(err, out.Close(), s.root.Remove(name))
	}
	return out, nil
}
