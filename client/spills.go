package client

// This file reads what the agent's spill directory holds: of executions that run, and of earlier
// ones, as long as there is room for them.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// Spills lists what is in the agent's spill directory: executions that run, then the latest that
// ended first. Those of agents before this one are among them.
func (c *Conn) Spills(ctx context.Context) ([]Spill, error) {
	in, err := c.readBack(ctx, &protocol.Open{Type: protocol.OpenSpills})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	all := []Spill{}
	for {
		kind, payload, err := in.next()
		if err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		var s Spill
		if kind != protocol.KindSpill {
			err = fmt.Errorf("a frame of kind %d", kind)
		} else if len(all) == 2*protocol.MaxSpills {
			err = errors.New("spills without end")
		} else {
			err = decode(payload, &s)
		}
		if err != nil {
			return nil, &ProtocolError{in.doing, err}
		}
		all = append(all, s)
	}
}

// ReadSpill reads lines of an execution's complete output, from the agent's file: of one that runs,
// what it has printed so far. The caller closes what it gets, or ends ctx. A [*Failure] has the
// code unknown-id, or no-spill where all output was in the view.
func (c *Conn) ReadSpill(ctx context.Context, id string, lines Lines) (*SpillReader, error) {
	in, err := c.readBack(ctx, &protocol.Open{Type: protocol.OpenRead, ID: id, Lines: &lines})
	if err != nil {
		return nil, err
	}
	r := &SpillReader{in: in}
	kind, payload, err := in.next()
	if err == io.EOF {
		err = &ProtocolError{in.doing, io.ErrUnexpectedEOF}
	} else if err == nil && kind != protocol.KindSpill {
		err = &ProtocolError{in.doing, fmt.Errorf("a frame of kind %d", kind)}
	} else if err == nil {
		if err = decode(payload, &r.spill); err != nil {
			err = &ProtocolError{in.doing, err}
		}
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return r, nil
}

// SpillReader is lines of a complete output, byte for byte.
type SpillReader struct {
	in    *readBack
	spill Spill
	rest  []byte // of the last frame
}

// Spill returns what the agent said of the output when it began to read.
func (r *SpillReader) Spill() Spill { return r.spill }

// Read reads on. io.EOF says that this was everything.
func (r *SpillReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		kind, payload, err := r.in.next()
		if err != nil {
			return 0, err
		}
		if kind != protocol.KindOutput {
			return 0, &ProtocolError{r.in.doing, fmt.Errorf("a frame of kind %d", kind)}
		}
		r.rest = payload
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close ends the reading.
func (r *SpillReader) Close() error { return r.in.Close() }

// readBack is a stream on which the agent sends until it has sent everything.
type readBack struct {
	ctx    context.Context
	stream *transport.Stream
	doing  string
	stop   func() bool
}

func (c *Conn) readBack(ctx context.Context, o *protocol.Open) (*readBack, error) {
	in := &readBack{ctx: ctx, doing: "reading a spill"}
	if o.Type == protocol.OpenSpills {
		in.doing = "listing spills"
	}
	var err error
	if in.stream, err = c.present().session.Open(ctx); err != nil {
		return nil, fmt.Errorf("client: %s: %w", in.doing, err)
	}
	in.stop = context.AfterFunc(ctx, func() { in.stream.SetReadDeadline(time.Unix(1, 0)) })
	if err := in.stream.WriteFrame(protocol.KindOpen, protocol.Encode(o)); err != nil {
		in.Close()
		return nil, fmt.Errorf("client: %s: %w", in.doing, err)
	}
	return in, nil
}

// next returns the next frame, or io.EOF when the agent has said that there is none.
func (in *readBack) next() (transport.Kind, []byte, error) {
	kind, payload, err := in.stream.ReadFrame()
	switch {
	case err == io.EOF:
		return 0, nil, io.EOF
	case err != nil && in.ctx.Err() != nil:
		return 0, nil, fmt.Errorf("client: %s: %w", in.doing, in.ctx.Err())
	case err != nil:
		return 0, nil, fmt.Errorf("client: %s: %w", in.doing, err)
	case kind == protocol.KindFailure:
		return 0, nil, decodeFailure(payload)
	}
	return kind, payload, nil
}

// Close leaves the rest unread. It may be called more than once.
func (in *readBack) Close() error {
	in.stop()
	return in.stream.Close()
}
