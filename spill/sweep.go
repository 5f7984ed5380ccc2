// What goes, and when: too old, over the quota, or in the way of the file system's other users.

package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// sweepOldest removes the ended entry that has to go first, and reports whether there was one.
func (s *Store) sweepOldest() bool {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	return s.sweepOldestLocked()
}

// sweepOldestLocked is sweepOldest for callers that hold sweeping.
func (s *Store) sweepOldestLocked() bool {
	s.mu.Lock()
	e := s.popOldest()
	s.mu.Unlock()
	return e != nil && s.remove(e)
}

// sweep removes what is too old, and more while the bounds are exceeded.
func (s *Store) sweep() {
	for s.sweepAged() {
	}
	for s.ctx.Err() == nil && s.exceeded() && s.sweepOldest() {
	}
}

// sweepAged removes one entry that is too old, and reports whether there was one.
func (s *Store) sweepAged() bool {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	s.mu.Lock()
	now := s.now()
	i := slices.IndexFunc(s.ended, func(e *entry) bool {
		return now.Sub(e.ended) > s.opts.MaxAge && !e.until.After(now)
	})
	if i < 0 || s.place == nil {
		s.mu.Unlock()
		return false
	}
	e := s.pop(i)
	s.mu.Unlock()
	return s.remove(e)
}

// exceeded reports whether the store takes more than it may.
func (s *Store) exceeded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used > s.opts.MaxTotal || s.live+len(s.ended) > s.most {
		return true
	}
	has, ok := s.space(s.dir())
	return ok && has.free < has.keep(s.opts.KeepFree)
}

// sweepIdle does the same for the subdirectories of stores that are no more: nobody else would
// until one more store needs a place.
func (s *Store) sweepIdle() {
	if s.Dir() != s.base {
		return
	}
	for n := 2; n <= maxStores && s.ctx.Err() == nil; n++ {
		dir := numbered(s.base, n)
		if _, err := os.Lstat(dir); err != nil {
			continue
		}
		if err := s.sweepPlace(dir); err != nil {
			s.opts.Logger.Warn("looking for old spill files", "dir", dir, "error", err)
		}
	}
}

// sweepPlace sweeps one directory, and removes it if that leaves nothing.
func (s *Store) sweepPlace(dir string) error {
	p, err := lockPlace(dir)
	if errors.Is(err, errInUse) {
		return nil
	} else if err != nil {
		return err
	}
	idle := newStore(dir, p, s.opts)
	defer idle.Close()
	idle.now, idle.space = s.now, s.space
	idle.load()
	idle.sweep()
	if len(idle.ended) > 0 {
		return nil
	}
	// The lock is held until both are gone: whoever opens the file meanwhile finds itself in a
	// directory that its path does not lead to, and opens it again; whoever makes it anew keeps
	// the directory.
	if err := p.root.Remove(lockName); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return fmt.Errorf("spill: remove the empty %q: %w", dir, err)
	}
	return nil
}
