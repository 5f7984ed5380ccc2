// What a store knows of each execution in its directory, and what all of them take.

package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// entry is one execution's manifest, file, or both. Its store's mu guards it.
//
//	live ──settled, and its file closed──▶ ended ──oldest, or too old──▶ gone
type entry struct {
	id     string
	record *Record // the one that writes it; nil once it has ended
	named  bool    // there is a manifest, which is this entry's
	file   string  // name of the spill file, or ""
	size   int64   // of that, in bytes
	busy   int     // reasons to live: not settled, file open
	over   bool    // the manifest changes no more
	ended  time.Time
	until  time.Time // the floor: not to go before
}

// charge is what the entry counts for, in bytes.
func (e *entry) charge() int64 {
	if e.named {
		return RecordCharge + e.size
	}
	return e.size
}

// admit takes up a live entry for id. It is known if an ended one had its manifest, and now has
// none.
func (s *Store) admit(id string) (e *entry, known bool, err error) {
	for {
		s.mu.Lock()
		if old := s.records[id]; old != nil && old.busy > 0 && !old.over {
			s.mu.Unlock()
			return nil, false, fmt.Errorf("one of this id runs: %w", fs.ErrExist)
		}
		limit := s.refusal()
		if limit == nil {
			break
		}
		s.mu.Unlock()
		if !s.sweepOldest() {
			return nil, false, limit
		}
	}
	defer s.mu.Unlock()
	old := s.records[id]
	if old != nil {
		s.dropName(old)
	}
	e = &entry{id: id, named: true, busy: 1}
	s.records[id] = e
	s.live++
	s.used += e.charge()
	return e, old != nil, nil
}

// refusal says why there is no room for one more manifest, or nil.
func (s *Store) refusal() error {
	if s.used+RecordCharge > s.opts.MaxTotal {
		return &LimitError{StoreQuota, s.opts.MaxTotal}
	}
	if s.live+len(s.ended) >= s.most {
		return errTooMany
	}
	return nil
}

// errTooMany says that as many commands run as the directory may remember.
var errTooMany = errors.New("too many executions in the directory: end some")

// dropName leaves an entry without its manifest, which another has replaced.
func (s *Store) dropName(e *entry) {
	s.used -= RecordCharge
	e.named = false
	if e.file == "" && e.busy == 0 {
		s.ended = slices.DeleteFunc(s.ended, func(x *entry) bool { return x == e })
	}
}

// settled says that the manifest of a live entry is final.
func (s *Store) settled(e *entry) {
	s.mu.Lock()
	e.over = true
	s.mu.Unlock()
	s.dismiss(e)
}

// dismiss takes back one reason to live.
func (s *Store) dismiss(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.busy--; e.busy > 0 {
		return
	}
	s.live--
	e.record = nil
	e.ended = s.now()
	if e.named || e.file != "" {
		s.ended = append(s.ended, e)
	}
}

// forgetEnded is for a directory that is gone with all that was in it.
func (s *Store) forgetEnded() {
	for _, e := range s.ended {
		s.used -= e.charge()
		if e.named {
			delete(s.records, e.id)
		}
	}
	s.ended = nil
}

// popOldest takes the entry that has to go first, and its manifest, so that whoever finds a
// manifest finds its file. It is nil when nothing can go.
func (s *Store) popOldest() *entry {
	if s.place == nil {
		return nil
	}
	now := s.now()
	i := slices.IndexFunc(s.ended, func(e *entry) bool { return !e.until.After(now) })
	if i < 0 {
		return nil
	}
	return s.pop(i)
}

func (s *Store) pop(i int) *entry {
	e := s.ended[i]
	s.ended = slices.Delete(s.ended, i, i+1)
	if e.named {
		s.removeFile(manifestName(e.id))
		delete(s.records, e.id)
		s.used -= RecordCharge
		e.named = false
	}
	return e
}

// remove removes the file of an entry that was popped, and reports whether it is gone. It can
// take as long as the file is large, so it is done without mu.
func (s *Store) remove(e *entry) bool {
	if e.file != "" && !s.removeFile(e.file) {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.ended = s.now() // try the others first
		s.ended = append(s.ended, e)
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= e.size
	return true
}

// removeFile removes a file of the directory. Only Close, which waits for sweeping, makes
// place nil.
func (s *Store) removeFile(name string) bool {
	err := s.place.root.Remove(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.opts.Logger.Warn("removing an old spill file", "name", name, "error", err)
		return false
	}
	return true
}
