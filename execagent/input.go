//go:build linux

package execagent

// This file is the way from one client to a command's stdin: what the client sends on its
// watcher's stream.

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// input is the client's side of one watcher's stream. Nothing is buffered here: while the
// command does not read, frames stay in the stream's window, and the client waits.
type input struct {
	e      *execution
	stream *transport.Stream
	name   string // of the client's writer, or ""
	// refused tells the client once why what it writes is dropped.
	refused func(*protocol.Failure)
	// taken tells the client how far its writer's input has come.
	taken func(offset int64)

	writer *writer // nil before the first input
	told   int64   // the last word of taken
}

// lastWord is how long a client that broke the rules may take to be told.
const lastWord = 2 * time.Second

// during takes the client's input while send runs, and until the client has left or ctx ends.
// The context that send gets ends when the client leaves, or breaks the rules: then the error
// is a [*protocol.Failure], and the stream can still be told. After any other it is over.
func (in *input) during(ctx context.Context, send func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gone := make(chan struct{})
	var broken error // valid once gone is closed
	go func() {
		broken = in.receive(ctx)
		// Releases a write, for which there is nobody any more.
		in.stream.SetWriteDeadline(time.Now().Add(lastWord))
		close(gone)
		cancel()
	}()
	err := send(ctx)
	select {
	case <-gone:
		if err != nil && broken != nil {
			return broken
		}
	default:
	}
	if err != nil {
		cancel()
		in.stream.Close() // releases receive
	}
	<-gone
	return err
}

// receive passes the client's frames on until it leaves, for which there is no error. Input
// that the command does not take is read and dropped, so that the client's side does not stay
// blocked on it.
func (in *input) receive(ctx context.Context) error {
	told := false
	for {
		kind, payload, err := in.stream.ReadFrame()
		if errors.Is(err, io.EOF) || errors.Is(err, transport.ErrStreamClosed) {
			return nil
		} else if err != nil {
			in.e.agent.log.Debug("a watcher's stream ended", "id", in.e.spec.ID, "error", err)
			return nil
		}
		if kind != protocol.KindStdin && kind != protocol.KindStdinEnd {
			return refuse(protocol.CodeBadRequest, "a client sends stdin on an execution's stream, not a frame of kind %d", kind)
		}
		failure := (*protocol.Failure)(nil)
		switch err := in.take(ctx, kind, payload); {
		case err != nil && !errors.As(err, &failure):
			return nil // ctx has ended
		case err == nil:
			in.acknowledge()
		case failure.Code == protocol.CodeBadRequest:
			return failure
		case !told:
			told = true
			in.refused(failure)
		}
	}
}

// acknowledge says now and then what the command was given, to a writer that can repeat the rest.
func (in *input) acknowledge() {
	if in.name == "" || in.writer == nil {
		return
	}
	if taken := in.writer.taken.Load(); taken-in.told >= protocol.StdinWindow/4 {
		in.told = taken
		in.taken(taken)
	}
}

// take does what one frame asks for. An end of what is already over is no error. Once ctx has
// ended nothing more is taken: what was under way then may be repeated on another connection, and
// an end must not overtake it.
func (in *input) take(ctx context.Context, kind transport.Kind, payload []byte) error {
	offset, p, err := protocol.CutStdin(payload)
	if err != nil {
		return refuse(protocol.CodeBadRequest, "%v", err)
	}
	open := in.e.spec.Stdin == protocol.StdinPipe
	if open && in.writer == nil {
		in.writer = in.e.stdin.writer(in.name)
	}
	switch {
	case kind == protocol.KindStdin && !open:
		return refuse(protocol.CodeNoStdin, "execution %q takes no input from clients: it was started with stdin %q", in.e.spec.ID, in.e.spec.Stdin)
	case kind == protocol.KindStdin:
		return in.e.stdin.write(ctx, in.writer, offset, p)
	case !open:
		return nil
	case in.e.spec.Interactive:
		err = in.e.stdin.typeEnd(ctx, in.writer, offset)
	default:
		err = in.e.stdin.closeAt(ctx, in.writer, offset)
	}
	if f := (*protocol.Failure)(nil); errors.As(err, &f) && f.Code != protocol.CodeBadRequest {
		return nil
	}
	return err
}
