//go:build linux

package execagent

// This file is the agent's spill directory.

import (
	"log/slog"
	"sync"

	"github.com/execagent/execagent/spill"
)

// spills opens the spill directory when the first output needs it, and again after a failure:
// a directory that was put right serves later executions.
type spills struct {
	dir  string
	opts spill.Options
	log  *slog.Logger

	mu     sync.Mutex // guards the rest; held while opening the store
	store  *spill.Store
	warned bool // the operator knows that there is none
}

// prepare opens the spill directory before the first client asks what an earlier agent left
// there. A failure was logged, and is tried again.
func (a *Agent) prepare() {
	if a.opts.Daemon {
		_, _ = a.spills.open()
	}
}

// open returns the store.
func (s *spills) open() (*spill.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store != nil {
		return s.store, nil
	}
	store, err := spill.Open(s.dir, s.opts)
	if err != nil {
		if !s.warned {
			s.log.Warn("complete outputs cannot be kept", "error", err)
		}
		s.warned = true
		return nil, err
	}
	if store.Dir() != s.dir {
		s.log.Info("the spill directory is a subdirectory: another agent uses the one above", "dir", store.Dir())
	}
	s.store, s.warned = store, false
	return store, nil
}

// opened returns the store if it is open, or nil.
func (s *spills) opened() *spill.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store
}

func (s *spills) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return nil
	}
	err := s.store.Close()
	s.store = nil
	return err
}
