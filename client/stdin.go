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
// Where connections are made again, what the command was not given is kept here, at most
// [protocol.StdinWindow] bytes, and sent again; each byte is given to the command once. Write
// then blocks when so much is under way, also while the agent is out of reach.
//
// Close ends the input, for all clients; of an interactive command as Ctrl-D does, which a
// program may take for something else. A second Close is ErrStdinClosed.
func (e *Execution) Stdin() io.WriteCloser { return e.stdin }

// stdin is the client's end of a command's input.
//
//	[ taken by the command | kept | not written yet ]
//	                       base
type stdin struct {
	e    *Execution
	room chan struct{} // holds a token when a write may go on

	sending sync.Mutex  // keeps frames in order; held across I/O
	at      *attachment // to send on; guarded by sending

	mu      sync.Mutex // guards the rest; not held across I/O
	refused error
	base    int64  // offset of kept
	kept    []byte // empty where nothing can be sent again
	end     bool   // the end was written, behind kept
}

func newStdin(e *Execution) *stdin { return &stdin{e: e, room: make(chan struct{}, 1)} }

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

func (s *stdin) send(kind transport.Kind, part []byte) error {
	if s.e.started.Stdin != protocol.StdinPipe {
		return ErrNoStdin
	}
	if err := s.awaitRoom(len(part)); err != nil {
		return err
	}
	s.sending.Lock()
	defer s.sending.Unlock()
	at := s.at
	offset := s.keep(kind, part)
	err := at.stream.WriteFrame(kind, protocol.AppendStdin(nil, offset, part))
	if err == nil {
		return nil
	}
	if over := s.why(); over != nil {
		return over
	}
	if s.e.input != "" && at.link.ended() {
		return nil // it is kept, and repeated
	}
	return fmt.Errorf("client: writing stdin of %q: %w", s.e.id, err)
}

// awaitRoom waits until so many bytes more can be kept, or says why nothing can be sent.
func (s *stdin) awaitRoom(n int) error {
	for {
		if over := s.why(); over != nil {
			return over
		}
		s.mu.Lock()
		fits := len(s.kept)+n <= protocol.StdinWindow
		s.mu.Unlock()
		if fits {
			return nil
		}
		select {
		case <-s.room:
		case <-s.e.ctx.Done():
			return fmt.Errorf("client: writing stdin of %q: %w", s.e.id, s.e.ctx.Err())
		}
	}
}

// keep notes what is being sent, for repeat, and returns its offset.
func (s *stdin) keep(kind transport.Kind, part []byte) (offset int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	offset = s.base + int64(len(s.kept))
	switch {
	case kind == protocol.KindStdinEnd:
		s.end = true
	case s.e.input == "":
		s.base += int64(len(part))
	default:
		s.kept = append(s.kept, part...)
	}
	return offset
}

// repeat sends on a new attachment what was kept: the agent drops what of it the command was
// given, which cannot be known here. Later writes go there too.
func (s *stdin) repeat(at *attachment) {
	s.sending.Lock()
	defer s.sending.Unlock()
	if s.at.link.number > at.link.number {
		return
	}
	s.at = at
	s.mu.Lock()
	offset, kept, end := s.base, append([]byte(nil), s.kept...), s.end
	s.mu.Unlock()
	for len(kept) > 0 {
		part := kept[:min(len(kept), protocol.MaxStdinFrame)]
		if at.stream.WriteFrame(protocol.KindStdin, protocol.AppendStdin(nil, offset, part)) != nil {
			return // another attachment is to follow
		}
		offset += int64(len(part))
		kept = kept[len(part):]
	}
	if end {
		_ = at.stream.WriteFrame(protocol.KindStdinEnd, protocol.AppendStdin(nil, offset, nil))
	}
}

// taken notes that the command was given everything before this offset.
func (s *stdin) taken(offset int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.base + int64(len(s.kept))
	if s.end {
		sent++
	}
	if offset > sent {
		return fmt.Errorf("%d bytes of input taken, of %d", offset, sent)
	}
	if n := min(offset-s.base, int64(len(s.kept))); n > 0 {
		s.base += n
		s.kept = s.kept[:copy(s.kept, s.kept[n:])]
	}
	if len(s.kept) == 0 {
		s.kept = nil
	}
	s.poke()
	return nil
}

// refuse makes later writes fail. That the process has ended is the last word.
func (s *stdin) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused == nil || err == ErrProcessEnded {
		s.refused = err
	}
	s.poke()
}

// poke has a waiting write look again.
func (s *stdin) poke() {
	select {
	case s.room <- struct{}{}:
	default:
	}
}

// why returns why nothing can be sent, nil while it can.
func (s *stdin) why() error {
	s.mu.Lock()
	refused := s.refused
	s.mu.Unlock()
	if refused != nil {
		return refused
	}
	if err := s.e.over(); err != nil {
		return fmt.Errorf("client: writing stdin of %q: %w", s.e.id, err)
	}
	return nil
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
