//go:build linux

package execagent

// This file is the command's standard input, for whichever client writes it.

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// errNoStdin says that the command was started without input.
var errNoStdin = errors.New("the command has no stdin")

// stdin is the write end of a command's standard input. Its methods may be called
// concurrently.
type stdin struct {
	file     *os.File // nil when the command has no input
	terminal bool     // file is the PTY's master, which the pump closes
	turn     chan struct{}
	once     sync.Once
	ended    atomic.Bool
}

func newStdin(file *os.File, terminal bool) *stdin {
	return &stdin{file: file, terminal: terminal, turn: make(chan struct{}, 1)}
}

// write blocks while the command does not read, until ctx ends or close is called. It fails
// once nothing can read any more.
func (s *stdin) write(ctx context.Context, p []byte) error {
	if s.file == nil {
		return errNoStdin
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.ended.Load() {
		return os.ErrClosed
	}
	interrupted := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		s.file.SetWriteDeadline(time.Unix(1, 0))
	})
	_, err := s.file.Write(p)
	if !release() {
		<-interrupted
		if !s.ended.Load() {
			s.file.SetWriteDeadline(time.Time{}) // for the next client
		}
	}
	return err
}

// close ends the input; a terminal has no end, so there nothing happens. It may be called more
// than once, and releases a blocked write.
func (s *stdin) close() {
	if !s.terminal {
		s.end()
	}
}

// end is close when nothing will read any more.
func (s *stdin) end() {
	if s.file == nil {
		return
	}
	s.once.Do(func() {
		s.ended.Store(true)
		if s.terminal {
			s.file.SetWriteDeadline(time.Unix(1, 0))
		} else {
			s.file.Close()
		}
	})
}
