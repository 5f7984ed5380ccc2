//go:build linux

package execagent

// This file is the command's standard input, for whichever client writes it.

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/execagent/execagent/transport/protocol"
)

// endOfFile is the character by which a terminal's user ends an input (Ctrl-D).
const endOfFile = 4

// stdin writes a command's standard input. Its methods may be called concurrently.
type stdin struct {
	file     *os.File // nil when the command has no input
	terminal bool     // file is the PTY's master, which the pump closes
	turn     chan struct{}

	mu      sync.Mutex        // guards the rest; not held across I/O
	over    *protocol.Failure // why nothing is taken any more; nil while something is
	writers []*writer         // those with a name, the latest last
}

func newStdin(file *os.File, terminal bool) *stdin {
	s := &stdin{file: file, terminal: terminal, turn: make(chan struct{}, 1)}
	if file == nil {
		s.over = &protocol.Failure{Code: protocol.CodeNoStdin, Message: `the command has no stdin for clients: start it with stdin "pipe"`}
	}
	return s
}

// write gives the command what of p, at this offset of the writer's input, it was not given
// before. It blocks while the command does not read, until ctx ends or the input does. Unless ctx
// ended its error is a [*protocol.Failure]: bad-request if input before p is missing, else a final
// one, no-stdin, stdin-closed or ended.
func (s *stdin) write(ctx context.Context, w *writer, offset int64, p []byte) error {
	return s.inTurn(ctx, w, offset, int64(len(p)), func(known int64) error {
		n, err := s.deliver(ctx, p[known:])
		w.taken.Add(int64(n))
		return err
	})
}

// inTurn calls do when nobody else writes, with how much of the size at the offset the command
// was given before, unless that is all of it.
func (s *stdin) inTurn(ctx context.Context, w *writer, offset, size int64, do func(known int64) error) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if over := s.whyOver(); over != nil {
		return over
	}
	known := w.taken.Load() - offset
	switch {
	case known < 0:
		return refuse(protocol.CodeBadRequest, "input at the offset %d, where only %d bytes came before", offset, w.taken.Load())
	case known >= size:
		return nil
	}
	return do(known)
}

// deliver is write for the one whose turn it is.
func (s *stdin) deliver(ctx context.Context, p []byte) (int, error) {
	interrupted := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		s.file.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := s.file.Write(p)
	if !release() {
		<-interrupted
		s.file.SetWriteDeadline(time.Time{}) // for the next client, which looks at over first
	}
	switch over := s.whyOver(); {
	case err == nil:
		return n, nil
	case over != nil:
		return n, over
	case ctx.Err() != nil:
		return n, ctx.Err()
	}
	return n, s.finish(protocol.CodeStdinClosed, "the command has closed its stdin")
}

// typeEnd ends the input as the user of a terminal would, once for each offset.
func (s *stdin) typeEnd(ctx context.Context, w *writer, offset int64) error {
	return s.write(ctx, w, offset, []byte{endOfFile})
}

// closeAt ends the input of a command that has no terminal, behind what its writer wrote before.
func (s *stdin) closeAt(ctx context.Context, w *writer, offset int64) error {
	return s.inTurn(ctx, w, offset, 1, func(int64) error {
		s.close()
		return nil
	})
}

// close ends the input of a command that has no terminal. It may be called more than once, and
// releases a blocked write.
func (s *stdin) close() {
	s.finish(protocol.CodeStdinClosed, "the command's stdin was ended by a client")
}

// end says that nothing will read any more, and releases a blocked write.
func (s *stdin) end() { s.finish(protocol.CodeEnded, "the command has ended") }

// finish makes the first cause final and returns it.
func (s *stdin) finish(code protocol.Code, message string) *protocol.Failure {
	s.mu.Lock()
	if s.over != nil {
		defer s.mu.Unlock()
		if s.over.Code == protocol.CodeStdinClosed && code == protocol.CodeEnded {
			s.over = &protocol.Failure{Code: code, Message: message}
		}
		return s.over
	}
	over := &protocol.Failure{Code: code, Message: message}
	s.over = over
	s.mu.Unlock()
	if s.terminal {
		s.file.SetWriteDeadline(time.Unix(1, 0))
	} else {
		s.file.Close()
	}
	return over
}

func (s *stdin) whyOver() *protocol.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}
