package client

// This file is an execution followed by its bounded view: start, batches, result.

import (
	"context"
	"iter"
	"sync"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/transport/protocol"
)

// Command is an execution that was started or attached to, followed by its bounded view. Close
// it, or the Conn.
type Command struct {
	*Execution

	fold fold // used by the goroutine in Batches
	mu   sync.Mutex
	view View // guarded by mu
}

// Batch is what changed between two states of a view.
type Batch struct {
	// Wire is the batch as the agent sent it, a JSON array of WireOps: to be decoded by
	// one stateful Chord decoder, in order. It is valid until the next batch is asked for.
	Wire []byte
	// Ops are the same, decoded.
	Ops []chord.Op
}

// Start runs spec; without an ID it gets a random one. The same spec under the same ID is one
// execution, however often it is started. When ctx ends, even after Start has returned, the
// execution is canceled; losing the connection does not cancel it.
//
// A refusal is a [*Failure].
func (c *Conn) Start(ctx context.Context, spec Spec) (*Command, error) {
	e, err := c.start(ctx, protocol.ModeView, spec)
	if err != nil {
		return nil, err
	}
	return &Command{Execution: e, fold: newFold()}, nil
}

// Attach follows the execution of this ID from its present state on. Ending ctx afterwards
// changes nothing. An unknown ID is a [*Failure].
func (c *Conn) Attach(ctx context.Context, id string) (*Command, error) {
	e, err := c.attach(ctx, protocol.ModeView, id)
	if err != nil {
		return nil, err
	}
	return &Command{Execution: e, fold: newFold()}, nil
}

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
			if c.View().State != protocol.Settled { // nobody waits for that of the last one
				c.reading.link.acknowledge(c.reading.watcher, 1)
			}
			if !more {
				return
			}
		}
	}
}

// receive takes the next frame: a batch, or the result, for which it returns nil.
func (c *Command) receive() (*Batch, error) {
	kind, payload, err := c.next(c.View().State)
	for err == nil && kind == resumed { // a base batch follows
		kind, payload, err = c.next(c.View().State)
	}
	if err != nil || kind == protocol.KindResult {
		return nil, err
	}
	if kind != protocol.KindBatch {
		return nil, c.unexpected(kind)
	}
	ops, view, err := c.fold.apply(payload)
	if err != nil {
		return nil, &ProtocolError{"following " + c.ID(), err}
	}
	c.mu.Lock()
	c.view = *view
	c.mu.Unlock()
	return &Batch{Wire: payload, Ops: ops}, nil
}

// Wait follows the execution to its end and returns its result. A command that fails is a
// result; only an agent or connection that fails is an error, as from Batches.
func (c *Command) Wait() (*Result, error) {
	for range c.Batches() {
	}
	return c.outcome()
}
