package client

// This file is one execution as its client sees it: start, follow, wait.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// Command is an execution that was started or attached to. Close it, or the Conn.
type Command struct {
	conn    *Conn
	stream  *transport.Stream
	watcher uint64
	started Started
	stop    func() bool // no longer cancel with the context

	fold fold // used by the goroutine in Batches

	mu     sync.Mutex // guards the rest
	view   View
	result *Result
	err    error // why following ended, without a result
}

// Batch is what changed between two states of a view.
type Batch struct {
	// Wire is the batch as the agent sent it, a JSON array of WireOps: to be decoded by
	// one stateful Chord decoder, in order. It is valid until the next batch is asked for.
	Wire []byte
	// Ops are the same, decoded.
	Ops []chord.Op
}

// NewID returns a random ID for an execution.
func NewID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Start runs spec; without an ID it gets a random one. The same spec under the same ID is one
// execution, however often it is started. When ctx ends, even after Start has returned, the
// execution is canceled; losing the connection does not cancel it.
//
// A refusal is a [*Failure].
func (c *Conn) Start(ctx context.Context, spec Spec) (*Command, error) {
	if spec.ID == "" {
		spec.ID = NewID()
	}
	if _, err := spec.Check(); err != nil {
		return nil, err
	}
	cmd, err := c.follow(ctx, &protocol.Open{Type: protocol.OpenStart, Spec: &spec}, spec.ID, true)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.Background(), cancelTimeout)
		defer cancel()
		_ = c.Cancel(ctx, spec.ID)
	})
	cmd.stop = stop
	return cmd, nil
}

// cancelTimeout bounds how long a cancel on behalf of an ended context waits for its reply.
const cancelTimeout = 10 * time.Second

// Attach follows the execution of this ID from its present state on. Ending ctx afterwards
// changes nothing. An unknown ID is a [*Failure].
func (c *Conn) Attach(ctx context.Context, id string) (*Command, error) {
	return c.follow(ctx, &protocol.Open{Type: protocol.OpenAttach, ID: id}, id, false)
}

// follow opens a stream and waits for the agent's answer.
func (c *Conn) follow(ctx context.Context, o *protocol.Open, id string, cancel bool) (*Command, error) {
	stream, err := c.open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("client: reaching the agent for %q: %w", id, err)
	}
	interrupted := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		stream.SetReadDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	cmd := &Command{conn: c, stream: stream, watcher: o.Watcher, stop: func() bool { return true }}
	err = cmd.awaitStarted()
	if !release() {
		<-interrupted
	}
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		if cancel {
			c.wg.Go(func() { cmd.abandon(id) })
		} else {
			stream.Close()
		}
		return nil, fmt.Errorf("client: waiting for %q to start: %w", id, ctx.Err())
	}
	if err != nil {
		stream.Close()
		return nil, err
	}
	stream.SetReadDeadline(time.Time{})
	return cmd, nil
}

// abandon cancels an execution that started after its context had ended.
func (c *Command) abandon(id string) {
	defer c.stream.Close()
	c.stream.SetReadDeadline(time.Time{})
	if c.awaitStarted() == nil {
		ctx, cancel := context.WithTimeout(context.Background(), cancelTimeout)
		defer cancel()
		_ = c.conn.Cancel(ctx, id)
	}
}

func (c *Command) awaitStarted() error {
	kind, payload, err := c.stream.ReadFrame()
	switch {
	case err != nil:
		return fmt.Errorf("client: waiting for the agent's answer: %w", err)
	case kind == protocol.KindFailure:
		return decodeFailure(payload)
	case kind != protocol.KindStarted:
		return &ProtocolError{"starting", fmt.Errorf("a frame of kind %d", kind)}
	}
	if err := decode(payload, &c.started); err != nil {
		return &ProtocolError{"starting", err}
	}
	return nil
}

// ID returns the execution's ID.
func (c *Command) ID() string { return c.started.ID }

// Started returns what the agent said when it answered.
func (c *Command) Started() Started { return c.started }

// View returns the view as of the last batch.
func (c *Command) View() View {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.view
}

// Batches yields the batches as they come, each after it is folded into the view, and ends
// with the result, or with an error: a [*LostError] or a [*ProtocolError]. Leaving the loop
// loses nothing; the next call, or Wait, goes on from there.
func (c *Command) Batches() iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for {
			if c.ended() {
				return
			}
			batch, err := c.receive()
			if err != nil {
				c.finish(nil, err)
				yield(Batch{}, err)
				return
			}
			if batch == nil {
				return
			}
			more := yield(*batch, nil)
			c.conn.acknowledge(c.watcher)
			if !more {
				return
			}
		}
	}
}

// receive takes the next frame: a batch, or the result, for which it returns nil.
func (c *Command) receive() (*Batch, error) {
	kind, payload, err := c.stream.ReadFrame()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, &LostError{c.ID(), c.View().State, err}
	}
	switch kind {
	case protocol.KindBatch:
		ops, view, err := c.fold.apply(payload)
		if err != nil {
			return nil, &ProtocolError{"following " + c.ID(), err}
		}
		c.mu.Lock()
		c.view = *view
		c.mu.Unlock()
		return &Batch{Wire: payload, Ops: ops}, nil
	case protocol.KindResult:
		r := new(Result)
		if err := decode(payload, r); err != nil {
			return nil, &ProtocolError{"following " + c.ID(), err}
		}
		c.finish(r, nil)
		return nil, nil
	case protocol.KindFailure:
		return nil, decodeFailure(payload)
	}
	return nil, &ProtocolError{"following " + c.ID(), fmt.Errorf("a frame of kind %d", kind)}
}

func (c *Command) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result != nil || c.err != nil
}

func (c *Command) finish(r *Result, err error) {
	c.mu.Lock()
	c.result, c.err = r, err
	c.mu.Unlock()
	c.Close()
}

// Wait follows the execution to its end and returns its result. A command that fails is a
// result; only an agent or connection that fails is an error, as from Batches.
func (c *Command) Wait() (*Result, error) {
	for range c.Batches() {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result, c.err
}

// Cancel ends the execution; see [Conn.Cancel].
func (c *Command) Cancel(ctx context.Context) error { return c.conn.Cancel(ctx, c.ID()) }

// Signal sends the command a signal; see [Conn.Signal].
func (c *Command) Signal(ctx context.Context, name string) error {
	return c.conn.Signal(ctx, c.ID(), name)
}

// Resize sets the size of the command's terminal; see [Conn.Resize].
func (c *Command) Resize(ctx context.Context, columns, rows int) error {
	return c.conn.Resize(ctx, c.ID(), columns, rows)
}

// Close stops following. The command goes on, unless the context of Start ends it.
func (c *Command) Close() error {
	c.stop()
	return c.stream.Close()
}

// Stdin returns the writer of the command's input. Close ends the input. Writes block while
// the command does not read, and fail with [ErrNoStdin] when it was started without input.
// It may be used beside Batches and Wait, by one goroutine.
func (c *Command) Stdin() io.WriteCloser { return (*stdin)(c) }

type stdin Command

func (s *stdin) Write(p []byte) (n int, err error) {
	if s.started.Stdin != protocol.StdinPipe {
		return 0, ErrNoStdin
	}
	for n < len(p) {
		part := p[n:min(len(p), n+protocol.MaxStdinFrame)]
		if err := s.stream.WriteFrame(protocol.KindStdin, part); err != nil {
			return n, fmt.Errorf("client: writing stdin of %q: %w", s.started.ID, err)
		}
		n += len(part)
	}
	return n, nil
}

func (s *stdin) Close() error {
	if s.started.Stdin != protocol.StdinPipe {
		return ErrNoStdin
	}
	return s.stream.WriteFrame(protocol.KindStdinEnd, nil)
}

// decode parses a message of the agent. Unlike the agent, it takes fields it does not know: a
// newer agent may say more.
func decode(payload []byte, v any) error {
	if err := json.Unmarshal(payload, v); err != nil {
		return fmt.Errorf("decoding a %T: %w", v, err)
	}
	return nil
}

func decodeFailure(payload []byte) error {
	f := new(Failure)
	if err := decode(payload, f); err != nil {
		return &ProtocolError{"reading a refusal", err}
	}
	return f
}
