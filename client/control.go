package client

// This file is what is asked beside the executions' own streams, and so never queues behind
// output.

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

// Status returns how the agent is doing.
func (c *Conn) Status(ctx context.Context) (*AgentStatus, error) {
	reply, err := c.ask(ctx, &protocol.Request{Type: protocol.RequestStatus})
	if err != nil {
		return nil, err
	}
	if reply.Status == nil {
		return nil, &ProtocolError{"asking for the status", fmt.Errorf("a reply without one")}
	}
	return reply.Status, nil
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
// none any more to take it, bad-signal that there is no such signal. It is sent at most once:
// where the connection breaks before the reply, the error does not tell whether it was.
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

// ask sends a request and waits for its reply. Where connections are made again it waits for
// that, and asks once more what may be asked twice.
func (c *Conn) ask(ctx context.Context, r *protocol.Request) (*protocol.Reply, error) {
	var dead *link
	for {
		l, err := c.await(ctx, dead)
		if err != nil {
			return nil, askError(r, err)
		}
		reply, err := l.ask(ctx, *r)
		again := c.resumable() && l.ended() && r.Type != protocol.RequestSignal
		failure, refused := err.(*Failure)
		switch {
		case err == nil:
			return reply, nil
		case refused && failure != l.err():
			return nil, failure
		case ctx.Err() != nil || !again:
			return nil, askError(r, err)
		}
		dead = l
	}
}

func askError(r *protocol.Request, err error) error {
	if r.ID == "" {
		return fmt.Errorf("client: asking for a %s: %w", r.Type, err)
	}
	return fmt.Errorf("client: asking for a %s of %q: %w", r.Type, r.ID, err)
}
