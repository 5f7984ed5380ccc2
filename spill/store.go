// The store: one private directory, its manifests and files, and the goroutine that keeps it
// within its bounds.

package spill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// createAttempts bounds the search for a free name. Two equal suffixes in a row mean that
// somebody plants names, not bad luck.
const createAttempts = 4

// A Store is an open spill directory. It is made by [Open], may be used by any number of
// goroutines, and is closed by whoever opened it; its Files outlive it.
type Store struct {
	base string // the directory that was asked for
	opts Options

	// What tests replace.
	most   int           // maxRecords
	suffix func() string // a new random part of a name
	now    func() time.Time
	space  func(dir string) (space, bool)
	wrap   func(*os.File) io.WriteCloser

	ctx    context.Context // ends when Close begins
	stop   context.CancelFunc
	wg     sync.WaitGroup
	loaded chan struct{} // closed when what was in the directory is known

	sweeping sync.Mutex // one removal at a time; held across unlink(2), taken before mu

	mu      sync.Mutex // guards the rest; not held across the writing or removing of output
	place   *place     // the directory that was checked, wherever its path leads by now; nil once closed
	records map[string]*entry
	ended   []*entry // the oldest first
	live    int      // entries that are not in ended
	used    int64    // what all entries are charged, in bytes
}

// Open opens the directory dir for spill files and makes it, and its parents, with mode 0700
// if it is missing. Any error is a [*DirError]: Open refuses a symbolic link, what is not a
// directory, a directory of another user, and one with permissions for group or others.
//
// A directory that another store uses is left to it: this one gets a subdirectory, agent-2 or
// the first that is free.
func Open(dir string, opts Options) (*Store, error) {
	s, err := open(dir, opts)
	if err != nil {
		return nil, err
	}
	s.wg.Go(s.run)
	return s, nil
}

// open is Open without the goroutine.
func open(dir string, opts Options) (*Store, error) {
	if dir == "" {
		return nil, &DirError{dir, "has no name", "name a directory", nil}
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, &DirError{dir, "has no absolute path", "name it by one", err}
	}
	p, err := takePlace(absolute)
	if err != nil {
		return nil, err
	}
	return newStore(absolute, p, opts), nil
}

func newStore(base string, p *place, opts Options) *Store {
	s := &Store{
		base:    base,
		opts:    opts.withDefaults(),
		most:    maxRecords,
		suffix:  randomSuffix,
		now:     func() time.Time { return time.Now().UTC() },
		space:   spaceOf,
		wrap:    func(f *os.File) io.WriteCloser { return f },
		loaded:  make(chan struct{}),
		place:   p,
		records: make(map[string]*entry),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// run reads the directory, and removes what is too old from time to time.
func (s *Store) run() {
	if dir := s.Dir(); inMemory(dir) {
		s.opts.Logger.Warn("the spill directory is in memory: complete outputs take of the memory that commands need; name one on a disk", "dir", dir)
	}
	s.load()
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		s.sweep()
		s.sweepIdle()
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			return
		}
	}
}

// Dir returns the absolute path of the directory in use: the one that was asked for, or its
// subdirectory.
func (s *Store) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.place == nil {
		return s.base
	}
	return s.place.dir
}

// Close gives the directory back. Open files stay usable; everything else fails from now on
// with [fs.ErrClosed]. It may be called twice.
func (s *Store) Close() error {
	s.stop()
	s.wg.Wait()
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.place == nil {
		return nil
	}
	err := s.place.close()
	s.place = nil
	return err
}

// here returns the directory, opened again if its path no longer leads to it. Staying with the
// old one would be as safe, but would hand out paths at which there is no file.
func (s *Store) here() (*place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.place == nil {
		return nil, fmt.Errorf("spill: use directory %q: store is closed: %w", s.base, fs.ErrClosed)
	}
	if s.place.isNamed() {
		return s.place, nil
	}
	p, err := takePlace(s.base)
	if err != nil {
		return nil, err
	}
	_ = s.place.close() // it is nowhere
	s.place = p
	s.forgetEnded()
	return p, nil
}

// root is the directory as it was last opened, or nil.
func (s *Store) root() *os.Root {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.place == nil {
		return nil
	}
	return s.place.root
}

// create makes a file for the output of id under a name that is free.
func (s *Store) create(p *place, id string) (*os.File, error) {
	var err error
	for range createAttempts {
		var out *os.File
		if out, err = createNamed(p.root, fileName(id, s.suffix())); !errors.Is(err, fs.ErrExist) {
			return out, explainSpace(p.root, err)
		}
	}
	return nil, err
}

// createNamed makes the file. O_EXCL alone refuses a symbolic link as the last element, and
// os.Root adds O_NOFOLLOW and O_CLOEXEC.
func createNamed(root *os.Root, name string) (*os.File, error) {
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	// The umask can have taken bits away from us.
	if err := out.Chmod(fileMode); err != nil {
		return nil, errors.Join(err, out.Close(), root.Remove(name))
	}
	return out, nil
}
