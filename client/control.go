package client

// This file is the control stream: what is asked beside the executions' own streams, and so
// never queues behind output.

import (
	"context"
	"errors"
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

// acknowledge tells the agent how much a watcher has taken: batches, or bytes of raw output.
func (c *Conn) acknowledge(watcher uint64, count int) {
	// If this fails the session is over, and the watcher's own stream says so.
	_ = c.send(&protocol.Request{Type: protocol.RequestAck, Watcher: watcher, Count: count})
}

func (c *Conn) send(r *protocol.Request) error {
	return c.control.WriteFrame(protocol.KindRequest, protocol.Encode(r))
}

// receive hands replies and notices to those concerned, until the control stream ends.
func (c *Conn) receive() {
	err := c.receiveAll()
	c.control.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = err
	for _, reply := range c.waiting {
		close(reply)
	}
	clear(c.waiting)
}

func (c *Conn) receiveAll() error {
	for {
		kind, payload, err := c.control.ReadFrame()
		if err != nil {
			return err
		}
		switch kind {
		case protocol.KindReply:
			err = c.replied(payload)
		case protocol.KindNotice:
			err = c.noticed(payload)
		case protocol.KindFailure:
			err = decodeFailure(payload)
		default:
			err = fmt.Errorf("a frame of kind %d", kind)
		}
		if failure := (*Failure)(nil); errors.As(err, &failure) {
			return err
		} else if err != nil {
			return &ProtocolError{"reading replies", err}
		}
	}
}

func (c *Conn) replied(payload []byte) error {
	var r protocol.Reply
	if err := decode(payload, &r); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if reply := c.waiting[r.Seq]; reply != nil {
		reply <- r
		delete(c.waiting, r.Seq)
	}
	return nil
}

func (c *Conn) noticed(payload []byte) error {
	var n protocol.Notice
	if err := decode(payload, &n); err != nil {
		return err
	}
	if n.Failure == nil {
		return errors.New("a notice of nothing")
	}
	c.mu.Lock()
	in := c.inputs[n.Watcher]
	c.mu.Unlock()
	if in != nil { // else nobody writes any more
		in.refuse(stdinError(n.Failure))
	}
	return nil
}
