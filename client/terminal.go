package client

// This file is an execution followed as a person at a terminal does: its bytes as they come.

import (
	"context"
	"fmt"
	"iter"

	"github.com/execagent/execagent/transport/protocol"
)

// Terminal is an execution whose output comes raw, escape sequences and all: for a terminal to
// show. It is not complete: a client that is 256 KiB behind the command, or was out of its reach,
// misses everything up to the present, and is told how much. What has to be complete is the spill, or a [Stream].
//
// The agent is no terminal emulator: where a program asks the terminal something, it is the one
// behind this client that answers, through Stdin, or nobody does.
//
// One goroutine at a time may use Chunks and Wait; the other methods are safe beside that.
// Close it, or the Conn.
type Terminal struct {
	*Execution

	taken    int   // bytes not yet acknowledged; of the goroutine in Chunks
	position int64 // of the next byte in the output; the same
}

// Chunk is some output, or a gap in it.
type Chunk struct {
	// Data is the next bytes, at most 32 KiB. They are valid until the next chunk is asked
	// for.
	Data []byte
	// Missed, if not 0, is how many bytes there were before the next chunk; Data is nil.
	Missed int64
}

// StartTerminal is [Conn.Start] for raw output. It misses nothing at the start. For a shell to
// type at, set Interactive in the spec.
func (c *Conn) StartTerminal(ctx context.Context, spec Spec) (*Terminal, error) {
	e, err := c.start(ctx, protocol.ModeRaw, spec)
	if err != nil {
		return nil, err
	}
	return &Terminal{Execution: e, position: e.started.Position}, nil
}

// AttachTerminal is [Conn.Attach] for raw output, from now on. A program that fills its screen
// draws it again when it is resized to another size.
func (c *Conn) AttachTerminal(ctx context.Context, id string) (*Terminal, error) {
	e, err := c.attach(ctx, protocol.ModeRaw, id)
	if err != nil {
		return nil, err
	}
	return &Terminal{Execution: e, position: e.started.Position}, nil
}

// Chunks yields output as it comes, and ends with the result, or with an error: a [*LostError]
// or a [*ProtocolError]. Leaving the loop loses nothing that is not too far behind when the
// next call goes on from there.
func (t *Terminal) Chunks() iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for !t.ended() {
			chunk, err := t.receive()
			if err != nil {
				t.finish(nil, err)
				yield(Chunk{}, err)
				return
			}
			if chunk == nil {
				return
			}
			more := yield(*chunk, nil)
			t.acknowledge(len(chunk.Data))
			if !more {
				return
			}
		}
	}
}

// receive takes the next frame: a chunk, or the result, for which it returns nil.
func (t *Terminal) receive() (*Chunk, error) {
	kind, payload, err := t.next(protocol.Running)
	if err != nil {
		return nil, err
	}
	switch kind {
	case protocol.KindResult:
		return nil, nil
	case resumed:
		return t.resume()
	case protocol.KindOutput:
		t.position += int64(len(payload))
		return &Chunk{Data: payload}, nil
	case protocol.KindGap:
		var g protocol.Gap
		if err := decode(payload, &g); err != nil {
			return nil, &ProtocolError{"following " + t.ID(), err}
		} else if g.Bytes <= 0 {
			return nil, &ProtocolError{"following " + t.ID(), fmt.Errorf("a gap of %d bytes", g.Bytes)}
		}
		t.position += g.Bytes
		return &Chunk{Missed: g.Bytes}, nil
	}
	return nil, t.unexpected(kind)
}

// resume goes on where another attachment begins: behind a gap, if there was output meanwhile.
func (t *Terminal) resume() (*Chunk, error) {
	t.taken = 0
	missed := t.reading.started.Position - t.position
	t.position += missed
	switch {
	case missed < 0:
		return nil, &ProtocolError{"following " + t.ID(), fmt.Errorf("the output is %d bytes shorter than it was", -missed)}
	case missed > 0:
		return &Chunk{Missed: missed}, nil
	}
	return t.receive()
}

// acknowledge tells the agent what was taken, not for every keystroke.
func (t *Terminal) acknowledge(n int) {
	t.taken += n
	if t.taken >= protocol.RawWindow/4 {
		t.reading.link.acknowledge(t.reading.watcher, t.taken)
		t.taken = 0
	}
}

// Wait drops the output that is still to come and returns the result, as [Command.Wait].
func (t *Terminal) Wait() (*Result, error) {
	for range t.Chunks() {
	}
	return t.outcome()
}
