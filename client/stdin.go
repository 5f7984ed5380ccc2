package client

// This file is the way from a client to a command's stdin.

import (
	"fmt"
	"io"
	"sync"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// Stdin returns the writer of the command's input, for one goroutine at a time.
//
// Write returns when its bytes are on their way, and blocks while the command does not read and
// 256 KiB (compressed) are. That the command takes no more is known only when the agent has
// said so: writes that were under way until then succeed, and what they wrote is lost. From
// then on Write fails with [ErrNoStdin], [ErrStdinClosed] or [ErrProcessEnded].
//
// Close ends the input, for all clients; of an interactive command as Ctrl-D does, which a
// program may take for something else. A second Close is ErrStdinClosed.
func (e *Execution) Stdin() io.WriteCloser { return e.stdin }

type stdin struct {
	e *Execution

	mu      sync.Mutex // guards refused; not held across I/O
	refused error
}

func (s *stdin) Write(p []byte) (n int, err error) {
	for n < len(p) {
		part := p[n:min(len(p), n+protocol.MaxStdinFrame)]
		if err := s.send(protocol.KindStdin, part); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

func (s *stdin) Close() error {
	if err := s.send(protocol.KindStdinEnd, nil); err != nil {
		return err
	}
	s.refuse(ErrStdinClosed)
	return nil
}

func (s *stdin) send(kind transport.Kind, payload []byte) error {
	if s.e.started.Stdin != protocol.StdinPipe {
		return ErrNoStdin
	}
	if err := s.whyRefused(); err != nil {
		return err
	}
	err := s.e.stream.WriteFrame(kind, payload)
	if err == nil {
		return nil
	}
	if refused := s.whyRefused(); refused != nil {
		return refused
	}
	return fmt.Errorf("client: writing stdin of %q: %w", s.e.ID(), err)
}

// refuse makes later writes fail. That the process has ended is the last word.
func (s *stdin) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused == nil || err == ErrProcessEnded {
		s.refused = err
	}
}

func (s *stdin) whyRefused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// stdinError is what an agent's notice means to the writer.
func stdinError(f *Failure) error {
	switch f.Code {
	case protocol.CodeNoStdin:
		return ErrNoStdin
	case protocol.CodeStdinClosed:
		return ErrStdinClosed
	case protocol.CodeEnded:
		return ErrProcessEnded
	}
	return f
}
