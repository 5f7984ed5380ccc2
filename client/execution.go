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
	"sync"
	"time"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// Execution is what [Command], [Terminal] and [Stream] have in common. Its methods are safe for
// concurrent use.
type Execution struct {
	conn    *Conn
	id      string
	mode    protocol.Mode
	input   string          // names the writer of stdin on all connections
	ctx     context.Context // of its start: when it ends, nothing waits for a connection
	started Started
	stdin   *stdin
	stop    func() bool // no longer cancel with the context
	reading *attachment // of the goroutine that calls next

	mu      sync.Mutex // guards the rest; not held across I/O
	at      *attachment
	changed chan struct{} // closed and replaced when at or lost changes
	lost    error         // why there will be no other attachment
	found   *Result       // what another start of the agent knows, once lost is set
	closed  bool
	result  *Result
	err     error // why following ended, without a result
}

// NewID returns a random ID for an execution.
func NewID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// cancelTimeout bounds how long a cancel on behalf of an ended context waits for its reply,
// once the agent is within reach.
const cancelTimeout = 10 * time.Second

func (c *Conn) newExecution(ctx context.Context, mode protocol.Mode, id string) *Execution {
	e := &Execution{conn: c, id: id, mode: mode, ctx: ctx, stop: func() bool { return true }, changed: make(chan struct{})}
	if c.resumable() && mode != protocol.ModeStream {
		e.input = NewID()
	}
	e.stdin = newStdin(e)
	return e
}

// start runs spec, and cancels it when ctx ends.
func (c *Conn) start(ctx context.Context, mode protocol.Mode, spec Spec) (*Execution, error) {
	if spec.ID == "" {
		spec.ID = NewID()
	}
	if _, err := spec.Check(); err != nil {
		return nil, err
	}
	e := c.newExecution(ctx, mode, spec.ID)
	if err := e.begin(ctx, protocol.Open{Type: protocol.OpenStart, Mode: mode, Input: e.input, Spec: &spec}); err != nil {
		return nil, err
	}
	e.stop = context.AfterFunc(ctx, func() { c.cancelNow(spec.ID) })
	return e, nil
}

func (c *Conn) attach(ctx context.Context, mode protocol.Mode, id string) (*Execution, error) {
	e := c.newExecution(context.Background(), mode, id)
	if err := e.begin(ctx, e.attachOpen()); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *Execution) attachOpen() protocol.Open {
	return protocol.Open{Type: protocol.OpenAttach, Mode: e.mode, Input: e.input, ID: e.id}
}

// cancelNow cancels an execution on behalf of a context that has ended, also one whose start
// has not reached the agent yet.
func (c *Conn) cancelNow(id string) {
	c.spawn(func() {
		ctx, cancel := context.WithTimeout(c.ctx, c.opts.Reconnect+cancelTimeout)
		defer cancel()
		_, _ = c.ask(ctx, &protocol.Request{Type: protocol.RequestCancel, ID: id, Fence: true})
	})
}

// begin makes the first attachment. Where connections are made again, a start whose answer was
// lost is repeated: the same ID and spec are one execution. But another start of the agent knows
// nothing of it, so there it is not.
func (e *Execution) begin(ctx context.Context, o protocol.Open) error {
	starts := o.Type == protocol.OpenStart
	var dead *link // that may have had the open
	for {
		l, err := e.conn.await(ctx, dead)
		switch {
		case err == nil:
		case dead != nil && starts:
			return e.abandon(ctx, err)
		default:
			return fmt.Errorf("client: reaching the agent for %q: %w", e.id, err)
		}
		if dead != nil && starts && l.instance() != dead.instance() {
			return &LostError{ID: e.id, Err: ErrAgentRestarted}
		}
		at, err := e.attachTo(ctx, l, o)
		switch {
		case err == nil:
			return e.enter(at)
		case ctx.Err() != nil && starts:
			return e.abandon(ctx, err)
		case ctx.Err() != nil, !l.ended(), isFinal(err):
			return err
		case o.Mode == protocol.ModeStream, !e.conn.resumable():
			return &LostError{ID: e.id, Err: err}
		}
		dead = l
	}
}

// abandon gives up a start of which nothing is known.
func (e *Execution) abandon(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return &LostError{ID: e.id, Err: err}
	}
	e.conn.cancelNow(e.id)
	return fmt.Errorf("client: waiting for %q to start: %w", e.id, ctx.Err())
}

// enter makes at the first attachment and has the execution followed on later links.
func (e *Execution) enter(at *attachment) error {
	e.started, e.at, e.reading, e.stdin.at = at.started, at, at, at
	c := e.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over != nil {
		e.lost = c.over
		return nil
	}
	if e.mode == protocol.ModeStream {
		return nil
	}
	c.executions[e] = struct{}{}
	if l := c.link; l != at.link && !c.closing { // replaced meanwhile
		c.wg.Go(func() { e.resume(l) })
	}
	return nil
}

// ID returns the execution's ID.
func (e *Execution) ID() string { return e.id }

// Started returns what the agent said when it first answered.
func (e *Execution) Started() Started { return e.started }

// Cancel ends the execution; see [Conn.Cancel].
func (e *Execution) Cancel(ctx context.Context) error { return e.conn.Cancel(ctx, e.id) }

// Signal sends the command a signal; see [Conn.Signal].
func (e *Execution) Signal(ctx context.Context, name string) error {
	return e.conn.Signal(ctx, e.id, name)
}

// Resize sets the size of the command's terminal; see [Conn.Resize].
func (e *Execution) Resize(ctx context.Context, columns, rows int) error {
	return e.conn.Resize(ctx, e.id, columns, rows)
}

// Close stops following. The command goes on, unless the context of its start ends it. It may
// be called more than once.
func (e *Execution) Close() error { return e.detach().close() }

// detach ends the following but for the attachment, which is to be closed.
func (e *Execution) detach() *attachment {
	e.stop()
	e.conn.leave(e)
	e.mu.Lock()
	e.closed = true
	at := e.at
	e.wake()
	e.mu.Unlock()
	e.stdin.poke()
	return at
}

// leave has an execution followed no more.
func (c *Conn) leave(e *Execution) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.executions, e)
}

// wake tells those who wait that something changed. The caller holds mu.
func (e *Execution) wake() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// resumed is a kind of frame that none on the wire has: what follows comes by a new attachment,
// from its beginning.
const resumed = transport.MaxKind + 1

// next takes the next frame of output. The result is taken note of, and its kind returned; a
// failure is an error. state is the last one seen, for the error of a lost connection.
func (e *Execution) next(state protocol.State) (transport.Kind, []byte, error) {
	kind, payload, err := e.reading.stream.ReadFrame()
	if err != nil {
		return e.followOn(state, err)
	}
	switch kind {
	case protocol.KindFailure:
		return 0, nil, decodeFailure(payload)
	case protocol.KindResult:
		r := new(Result)
		if err := decode(payload, r); err != nil {
			return 0, nil, &ProtocolError{"following " + e.id, err}
		}
		e.finish(r, nil)
	}
	return kind, payload, nil
}

// followOn waits for another attachment after the present one broke.
func (e *Execution) followOn(state protocol.State, err error) (transport.Kind, []byte, error) {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if e.input == "" || !e.reading.link.ended() {
		return 0, nil, &LostError{ID: e.id, State: state, Err: err}
	}
	at, err := e.awaitAttachment(e.reading)
	if r, _ := e.outcome(); r != nil {
		return protocol.KindResult, nil, nil
	}
	if f := (*Failure)(nil); errors.As(err, &f) && f.Code != protocol.CodeUnknownID {
		return 0, nil, err
	} else if err != nil {
		return 0, nil, &LostError{ID: e.id, State: state, Err: err, Found: e.whatWasFound()}
	}
	e.reading = at
	return resumed, nil, nil
}

func (e *Execution) whatWasFound() *Result {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.found
}

func (e *Execution) unexpected(kind transport.Kind) error {
	return &ProtocolError{"following " + e.id, fmt.Errorf("a frame of kind %d", kind)}
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
	if r == nil {
		e.Close()
		return
	}
	e.stdin.refuse(ErrProcessEnded)
	at := e.detach()
	e.conn.spawn(func() { at.close() }) // the result does not wait until the agent is told
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
