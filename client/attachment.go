package client

// This file is an execution's stream on one link, and how the next link gets one.

import (
	"context"
	"fmt"
	"time"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// attachment is an execution followed on one link.
type attachment struct {
	link    *link
	stream  *transport.Stream
	watcher uint64
	started Started
}

// close stops following. It may be called more than once.
func (at *attachment) close() error {
	at.link.forget(at.watcher)
	return at.stream.Close()
}

// attachTo opens the execution's stream on a link and waits for the agent's answer.
func (e *Execution) attachTo(ctx context.Context, l *link, o protocol.Open) (*attachment, error) {
	stream, err := l.session.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("client: reaching the agent for %q: %w", e.id, err)
	}
	at := &attachment{link: l, stream: stream, watcher: l.watch(e.stdin)}
	o.Watcher = at.watcher
	interrupted := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		stream.SetReadDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	if err = stream.WriteFrame(protocol.KindOpen, protocol.Encode(o)); err == nil {
		err = at.awaitStarted()
	}
	if !release() {
		<-interrupted
		err = fmt.Errorf("client: waiting for %q: %w", e.id, ctx.Err())
	}
	if err != nil {
		at.close()
		return nil, err
	}
	return at, nil
}

func (at *attachment) awaitStarted() error {
	kind, payload, err := at.stream.ReadFrame()
	switch {
	case err != nil:
		return fmt.Errorf("client: waiting for the agent's answer: %w", err)
	case kind == protocol.KindFailure:
		return decodeFailure(payload)
	case kind != protocol.KindStarted:
		return &ProtocolError{"starting", fmt.Errorf("a frame of kind %d", kind)}
	}
	if err := decode(payload, &at.started); err != nil {
		return &ProtocolError{"starting", err}
	}
	return nil
}

// resume follows the execution on another link, if it is the same start of the agent. When that
// link ends before, the next one is for it.
func (e *Execution) resume(l *link) {
	if l.instance() != e.present().link.instance() {
		e.inquire(l)
		return
	}
	ctx, cancel := context.WithCancel(e.conn.ctx)
	defer cancel()
	at, err := e.attachTo(ctx, l, e.attachOpen())
	if err != nil {
		if !l.ended() {
			e.lose(err)
		}
		return
	}
	e.stdin.repeat(at)
	e.mu.Lock()
	useless := e.closed || e.at.link.number > l.number
	if !useless {
		e.at = at
		e.wake()
	}
	e.mu.Unlock()
	if useless {
		at.close()
	}
}

// inquire asks another start of the agent what became of the execution. That has none of the view,
// but it may have the result, of a command that had ended before its agent did.
func (e *Execution) inquire(l *link) {
	at, err := e.attachTo(e.conn.ctx, l, protocol.Open{Type: protocol.OpenAttach, ID: e.id})
	var found *Result
	if err == nil {
		found, err = at.result()
		at.close()
	}
	switch {
	case l.ended(): // the next link is to ask again
	case err == nil && found.Reason != protocol.ReasonAgentLost:
		e.finish(found, nil)
	default:
		e.mu.Lock()
		e.found = found
		e.mu.Unlock()
		e.lose(ErrAgentRestarted)
	}
}

// result reads up to the result: of what has settled, it comes behind the base batch.
func (at *attachment) result() (*Result, error) {
	for {
		switch kind, payload, err := at.stream.ReadFrame(); {
		case err != nil:
			return nil, err
		case kind == protocol.KindResult:
			r := new(Result)
			return r, decode(payload, r)
		case kind != protocol.KindBatch:
			return nil, fmt.Errorf("a frame of kind %d", kind)
		}
	}
}

func (e *Execution) present() *attachment {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at
}

// over returns why nothing more can be sent, nil while it can, or later.
func (e *Execution) over() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return transport.ErrStreamClosed
	}
	return e.lost
}

// lose says that there will be no other attachment.
func (e *Execution) lose(err error) {
	e.conn.leave(e)
	e.mu.Lock()
	e.lost = err
	e.wake()
	e.mu.Unlock()
	e.stdin.poke()
}

// awaitAttachment waits for one other than the broken one.
func (e *Execution) awaitAttachment(broken *attachment) (*attachment, error) {
	for {
		e.mu.Lock()
		at, lost, closed, changed := e.at, e.lost, e.closed, e.changed
		e.mu.Unlock()
		switch {
		case closed:
			return nil, transport.ErrStreamClosed
		case at != broken:
			return at, nil
		case lost != nil:
			return nil, lost
		}
		select {
		case <-changed:
		case <-e.ctx.Done():
			return nil, fmt.Errorf("%w, out of reach: %w", e.ctx.Err(), broken.link.err())
		}
	}
}
