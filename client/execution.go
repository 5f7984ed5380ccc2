package client

// This file is one execution as all its clients see it, whatever they receive of its output.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// Execution is what [Command], [Terminal] and [Stream] have in common. Its methods are safe for
// concurrent use.
type Execution struct {
	conn    *Conn
	stream  *transport.Stream
	watcher uint64
	started Started
	stdin   *stdin
	stop    func() bool // no longer cancel with the context

	mu     sync.Mutex // guards the rest
	result *Result
	err    error // why following ended, without a result
}

// NewID returns a random ID for an execution.
func NewID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// cancelTimeout bounds how long a cancel on behalf of an ended context waits for its reply.
const cancelTimeout = 10 * time.Second

// start runs spec, and cancels it when ctx ends.
func (c *Conn) start(ctx context.Context, mode protocol.Mode, spec Spec) (*Execution, error) {
	if spec.ID == "" {
		spec.ID = NewID()
	}
	if _, err := spec.Check(); err != nil {
		return nil, err
	}
	e, err := c.follow(ctx, &protocol.Open{Type: protocol.OpenStart, Mode: mode, Spec: &spec}, spec.ID)
	if err != nil {
		return nil, err
	}
	e.stop = context.AfterFunc(ctx, func() { c.cancelNow(spec.ID) })
	return e, nil
}

// cancelNow cancels an execution on behalf of a context that has ended.
func (c *Conn) cancelNow(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTimeout)
	defer cancel()
	_ = c.Cancel(ctx, id)
}

func (c *Conn) attach(ctx context.Context, mode protocol.Mode, id string) (*Execution, error) {
	return c.follow(ctx, &protocol.Open{Type: protocol.OpenAttach, Mode: mode, ID: id}, id)
}

// follow opens a stream and waits for the agent's answer.
func (c *Conn) follow(ctx context.Context, o *protocol.Open, id string) (*Execution, error) {
	e, err := c.open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("client: reaching the agent for %q: %w", id, err)
	}
	interrupted := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		e.stream.SetReadDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	err = e.awaitStarted()
	if !release() {
		<-interrupted
	}
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		if o.Type == protocol.OpenStart {
			c.wg.Go(func() { e.abandon(id) })
		} else {
			e.Close()
		}
		return nil, fmt.Errorf("client: waiting for %q to start: %w", id, ctx.Err())
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	e.stream.SetReadDeadline(time.Time{})
	return e, nil
}

// abandon cancels an execution that started after its context had ended.
func (e *Execution) abandon(id string) {
	defer e.Close()
	e.stream.SetReadDeadline(time.Time{})
	if e.awaitStarted() == nil {
		e.conn.cancelNow(id)
	}
}

func (e *Execution) awaitStarted() error {
	kind, payload, err := e.stream.ReadFrame()
	switch {
	case err != nil:
		return fmt.Errorf("client: waiting for the agent's answer: %w", err)
	case kind == protocol.KindFailure:
		return decodeFailure(payload)
	case kind != protocol.KindStarted:
		return &ProtocolError{"starting", fmt.Errorf("a frame of kind %d", kind)}
	}
	if err := decode(payload, &e.started); err != nil {
		return &ProtocolError{"starting", err}
	}
	return nil
}

// ID returns the execution's ID.
func (e *Execution) ID() string { return e.started.ID }

// Started returns what the agent said when it answered.
func (e *Execution) Started() Started { return e.started }

// Cancel ends the execution; see [Conn.Cancel].
func (e *Execution) Cancel(ctx context.Context) error { return e.conn.Cancel(ctx, e.ID()) }

// Signal sends the command a signal; see [Conn.Signal].
func (e *Execution) Signal(ctx context.Context, name string) error {
	return e.conn.Signal(ctx, e.ID(), name)
}

// Resize sets the size of the command's terminal; see [Conn.Resize].
func (e *Execution) Resize(ctx context.Context, columns, rows int) error {
	return e.conn.Resize(ctx, e.ID(), columns, rows)
}

// Close stops following. The command goes on, unless the context of its start ends it. It may
// be called more than once.
func (e *Execution) Close() error {
	e.stop()
	e.conn.forget(e.watcher)
	return e.stream.Close()
}

// next takes the next frame of output. The result is taken note of, and its kind returned; a
// failure is an error. state is the last one seen, for the error of a lost connection.
func (e *Execution) next(state protocol.State) (transport.Kind, []byte, error) {
	kind, payload, err := e.stream.ReadFrame()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, &LostError{e.ID(), state, err}
	}
	switch kind {
	case protocol.KindFailure:
		return 0, nil, decodeFailure(payload)
	case protocol.KindResult:
		r := new(Result)
		if err := decode(payload, r); err != nil {
			return 0, nil, &ProtocolError{"following " + e.ID(), err}
		}
		e.finish(r, nil)
	}
	return kind, payload, nil
}

func (e *Execution) unexpected(kind transport.Kind) error {
	return &ProtocolError{"following " + e.ID(), fmt.Errorf("a frame of kind %d", kind)}
}

func (e *Execution) ended() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.result != nil || e.err != nil
}

// finish makes the first outcome final.
func (e *Execution) finish(r *Result, err error) {
	e.mu.Lock()
	if e.result == nil && e.err == nil {
		e.result, e.err = r, err
	}
	e.mu.Unlock()
	if r != nil {
		e.stdin.refuse(ErrProcessEnded)
	}
	e.Close()
}

func (e *Execution) outcome() (*Result, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.result, e.err
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
