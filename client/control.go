package client

// This file is the control stream: what is asked beside the executions' own streams, and so
// never queues behind output.

import (
	"context"
	"fmt"

	"github.com/execagent/execagent/transport/protocol"
)

// List is what an agent runs and ran.
type List struct {
	// Executions are those that have not settled first, then the latest first.
	Executions []Summary
	// Omitted is how many more there are than the agent lists.
	Omitted int
}

// List returns the agent's executions: those that run, and those that settled not long ago.
func (c *Conn) List(ctx context.Context) (*List, error) {
	reply, err := c.ask(ctx, &protocol.Request{Type: protocol.RequestList})
	if err != nil {
		return nil, err
	}
	return &List{reply.Executions, reply.Omitted}, nil
}

// Cancel ends the execution of this ID: SIGTERM, after its grace SIGKILL. It returns when the
// agent has begun to, not when the command has ended. An execution that has settled is left
// as it is; an unknown one is a [*Failure].
func (c *Conn) Cancel(ctx context.Context, id string) error {
	_, err := c.ask(ctx, &protocol.Request{Type: protocol.RequestCancel, ID: id})
	return err
}

// Signal sends the processes of this execution a signal: a name with or without SIG, such as
// "INT", or a number of the agent's system. A [*Failure] with the code ended says that there is
// none any more to take it, bad-signal that there is no such signal.
func (c *Conn) Signal(ctx context.Context, id, signal string) error {
	_, err := c.ask(ctx, &protocol.Request{Type: protocol.RequestSignal, ID: id, Signal: signal})
	return err
}

// Resize sets the size of this execution's terminal, in characters; its foreground processes
// get SIGWINCH. A [*Failure] has the code bad-size, no-terminal or ended.
func (c *Conn) Resize(ctx context.Context, id string, columns, rows int) error {
	_, err := c.ask(ctx, &protocol.Request{Type: protocol.RequestResize, ID: id, Columns: columns, Rows: rows})
	return err
}

// ask sends a request and waits for its reply.
func (c *Conn) ask(ctx context.Context, r *protocol.Request) (*protocol.Reply, error) {
	reply := make(chan protocol.Reply, 1)
	seq, err := c.expect(reply)
	if err == nil {
		defer c.unexpect(seq)
		r.Seq = seq
		err = c.send(r)
	}
	if err != nil {
		return nil, askError(r, err)
	}
	select {
	case got, ok := <-reply:
		switch {
		case !ok:
			return nil, askError(r, c.whyLost())
		case got.Failure != nil:
			return nil, got.Failure
		}
		return &got, nil
	case <-ctx.Done():
		return nil, askError(r, ctx.Err())
	}
}

func askError(r *protocol.Request, err error) error {
	if r.ID == "" {
		return fmt.Errorf("client: asking for a %s: %w", r.Type, err)
	}
	return fmt.Errorf("client: asking for a %s of %q: %w", r.Type, r.ID, err)
}

// expect numbers a request and has its reply sent to the channel, which is closed instead when
// none will come.
func (c *Conn) expect(reply chan protocol.Reply) (seq uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return 0, c.lost
	}
	c.requests++
	c.waiting[c.requests] = reply
	return c.requests, nil
}

func (c *Conn) unexpect(seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, seq)
}

func (c *Conn) whyLost() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// acknowledge tells the agent that a watcher has taken a batch.
func (c *Conn) acknowledge(watcher uint64) {
	// If this fails the session is over, and the watcher's own stream says so.
	_ = c.send(&protocol.Request{Type: protocol.RequestAck, Watcher: watcher, Count: 1})
}

func (c *Conn) send(r *protocol.Request) error {
	return c.control.WriteFrame(protocol.KindRequest, protocol.Encode(r))
}

// receive hands replies to those who wait, until the control stream ends.
func (c *Conn) receive() {
	err := c.receiveReplies()
	c.control.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = err
	for _, reply := range c.waiting {
		close(reply)
	}
	clear(c.waiting)
}

func (c *Conn) receiveReplies() error {
	for {
		kind, payload, err := c.control.ReadFrame()
		if err != nil {
			return err
		}
		if kind == protocol.KindFailure {
			return decodeFailure(payload)
		}
		var r protocol.Reply
		if kind != protocol.KindReply {
			return &ProtocolError{"reading replies", fmt.Errorf("a frame of kind %d", kind)}
		} else if err := decode(payload, &r); err != nil {
			return &ProtocolError{"reading replies", err}
		}
		c.mu.Lock()
		if reply := c.waiting[r.Seq]; reply != nil {
			reply <- r
			delete(c.waiting, r.Seq)
		}
		c.mu.Unlock()
	}
}
