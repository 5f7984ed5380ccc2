//go:build linux

package execagent

// This file is those who write a command's stdin, across the connections on which they do.

import "sync/atomic"

// maxWriters is how many named writers of one command are remembered; the one that came first is
// forgotten for another.
const maxWriters = 64

// writer is how far one client's input has come. What the client repeats on another connection,
// because it cannot know that, is dropped.
type writer struct {
	name  string
	taken atomic.Int64 // bytes given to the command; changed by whose turn it is
}

// writer returns the one of this name, or a new one without.
func (s *stdin) writer(name string) *writer {
	if name == "" {
		return new(writer)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.writers {
		if w.name == name {
			return w
		}
	}
	if len(s.writers) == maxWriters {
		s.writers = append(s.writers[:0], s.writers[1:]...)
	}
	w := &writer{name: name}
	s.writers = append(s.writers, w)
	return w
}
