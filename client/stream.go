package client

// This file is an execution as a lossless duplex: for servers that speak a protocol on their
// stdin and stdout.

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// Stream is a command's stdin and output byte for byte, with backpressure both ways: a Write
// waits while the command does not read, and the command while nobody calls Read. It is an
// [io.ReadWriteCloser]; reading and writing may go on at once, and must where the command
// answers before it has read everything.
//
// When the stream ends before the command does, by Close or a lost connection, the command's
// stdin ends and its output goes to the view and the spill alone.
type Stream struct {
	*Execution

	out, errs     *io.PipeReader
	toOut, toErrs *io.PipeWriter
	split         bool
	done          chan struct{} // closed when receive has returned
}

// StartStream runs spec with pipes, whatever it says of Pipe, and with stdin. Where
// spec.SplitStderr is set, Stderr has what the command writes there; else Read has both.
//
// Unlike [Conn.Start] it makes a new execution or fails, with the code no-stream if there is
// one of this ID: no other stream would have every byte. When ctx ends, even after StartStream
// has returned, the execution is canceled.
func (c *Conn) StartStream(ctx context.Context, spec Spec) (*Stream, error) {
	spec = protocol.ForStream(spec)
	e, err := c.start(ctx, protocol.ModeStream, spec)
	if err != nil {
		return nil, err
	}
	s := &Stream{Execution: e, split: spec.SplitStderr, done: make(chan struct{})}
	s.out, s.toOut = io.Pipe()
	s.errs, s.toErrs = io.Pipe()
	c.spawn(s.receive)
	c.spawn(s.release)
	return s, nil
}

// Read reads the command's stdout. io.EOF says that the command has closed it; any other error
// that it is not known whether this was everything: a [*LostError] or a [*ProtocolError].
func (s *Stream) Read(p []byte) (int, error) { return s.out.Read(p) }

// Stderr reads the command's stderr, where that was asked for; else it is empty. It has to be
// read beside stdout: what nobody reads of either holds up both.
func (s *Stream) Stderr() io.Reader {
	if !s.split {
		return strings.NewReader("")
	}
	return s.errs
}

// Write writes the command's stdin; see [Execution.Stdin].
func (s *Stream) Write(p []byte) (int, error) { return s.stdin.Write(p) }

// CloseWrite ends the command's stdin. Reading goes on.
func (s *Stream) CloseWrite() error { return s.stdin.Close() }

// Wait returns the result, as [Command.Wait] does, once all output was read: it waits for that.
func (s *Stream) Wait() (*Result, error) {
	<-s.done
	return s.outcome()
}

// Close ends the stream and drops what was not read. The command goes on without it, unless it
// takes the end of its stdin for its own, or the context of its start ends it.
func (s *Stream) Close() error {
	err := s.Execution.Close()
	s.out.Close()
	s.errs.Close()
	<-s.done
	return err
}

// receive hands output on as it is read, until the result.
func (s *Stream) receive() {
	defer close(s.done)
	for {
		kind, payload, err := s.next(protocol.Running)
		if err == nil && kind == protocol.KindResult {
			s.toOut.Close()
			s.toErrs.Close()
			return
		}
		if err == nil {
			err = s.deliver(kind, payload)
		}
		if err != nil {
			s.finish(nil, err)
			s.toOut.CloseWithError(err)
			s.toErrs.CloseWithError(err)
			return
		}
	}
}

// deliver waits until the payload was read, or its reader closed.
func (s *Stream) deliver(kind transport.Kind, payload []byte) error {
	switch {
	case kind == protocol.KindOutput:
		_, _ = s.toOut.Write(payload)
	case kind == protocol.KindErrOutput && s.split:
		_, _ = s.toErrs.Write(payload)
	case kind == protocol.KindOutputEnd:
		s.toOut.Close()
	case kind == protocol.KindErrOutputEnd && s.split:
		s.toErrs.Close()
	case kind == protocol.KindErrOutput || kind == protocol.KindErrOutputEnd:
		return &ProtocolError{"following " + s.ID(), fmt.Errorf("stderr apart, unasked")}
	default:
		return s.unexpected(kind)
	}
	return nil
}

// release lets receive end with the connection, also while nobody reads.
func (s *Stream) release() {
	select {
	case <-s.done:
	case <-s.reading.link.session.Done():
		err := &LostError{ID: s.ID(), State: protocol.Running, Err: s.reading.link.err()}
		s.toOut.CloseWithError(err)
		s.toErrs.CloseWithError(err)
	}
}
