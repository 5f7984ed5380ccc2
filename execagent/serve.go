//go:build linux

package execagent

// This file is the server's side of a connection: sessions, and what each stream is for.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// Serve accepts connections until the listener fails or the agent is closed, and serves each.
// It closes the listener, and returns when all its connections have ended: nil when Close was
// the reason.
func (a *Agent) Serve(l net.Listener) error {
	a.prepare()
	defer context.AfterFunc(a.ctx, func() { l.Close() })()
	defer l.Close()
	var sessions sync.WaitGroup
	defer sessions.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			if a.ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("execagent: accepting on %s: %w", l.Addr(), err)
		}
		sessions.Go(func() {
			if err := a.ServeConn(context.Background(), conn); err != nil {
				a.log.Info("connection ended in an error", "error", err)
			}
		})
	}
}

// ServeConn serves one connection until it ends, ctx ends or the agent is closed. It owns conn.
func (a *Agent) ServeConn(ctx context.Context, conn io.ReadWriteCloser) error {
	a.prepare()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	t, err := transport.Server(ctx, conn, transport.Options{
		Software:  a.opts.Software,
		Instance:  a.instance,
		Logger:    a.log,
		ReadLimit: protocol.MaxClientPayload,
		KeepAlive: a.opts.KeepAlive,
		Token:     a.opts.Token,
	})
	if err != nil {
		return err
	}
	begun := time.Now()
	a.log.Info("client connected", "software", t.Peer().Software, "clients", a.clients.Add(1))
	defer func() {
		a.log.Info("client gone", "software", t.Peer().Software, "clients", a.clients.Add(-1), "seconds", time.Since(begun).Seconds(), "cause", t.Err())
	}()
	s := &session{agent: a, transport: t, watchers: make(map[uint64]acker)}
	return s.serve(ctx)
}

// session is one client's connection.
type session struct {
	agent     *Agent
	transport *transport.Session

	mu       sync.Mutex // guards the rest; not held across I/O
	watchers map[uint64]acker
	control  *transport.Stream // nil until the client has opened it, and after its end
	early    [][]byte          // notices from before
}

// acker is a watcher whose client says how much it has taken.
type acker interface{ acked(count int) }

func (s *session) serve(ctx context.Context) error {
	var streams sync.WaitGroup
	defer streams.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.transport.Close()
	for {
		stream, err := s.transport.Accept(ctx)
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, transport.ErrSessionClosed) {
				return nil
			}
			return err
		}
		streams.Go(func() {
			defer stream.Close()
			s.handle(ctx, stream)
		})
	}
}

// handle serves one stream. Whatever goes wrong ends this stream and nothing else.
func (s *session) handle(ctx context.Context, stream *transport.Stream) {
	kind, payload, err := stream.ReadFrame()
	if err != nil {
		s.fail(stream, err)
		return
	}
	var open protocol.Open
	if kind != protocol.KindOpen {
		err = fmt.Errorf("a stream begins with frame kind %d, not %d", protocol.KindOpen, kind)
	} else {
		err = protocol.Decode(payload, &open)
	}
	if err != nil {
		s.fail(stream, &protocol.Failure{Code: protocol.CodeBadRequest, Message: err.Error()})
		return
	}
	switch open.Type {
	case protocol.OpenControl:
		err = s.controlled(stream)
	case protocol.OpenSpills, protocol.OpenRead:
		err = s.readBack(stream, &open)
	default:
		err = s.watch(ctx, stream, &open)
	}
	if err != nil && ctx.Err() == nil {
		s.fail(stream, err)
	}
}

// fail tells the client why the stream ends, if it can still be told.
func (s *session) fail(stream *transport.Stream, err error) {
	failure := (*protocol.Failure)(nil)
	if !errors.As(err, &failure) {
		failure = &protocol.Failure{Code: protocol.CodeBadRequest, Message: err.Error()}
	}
	failure = shorten(failure)
	if stream.WriteFrame(protocol.KindFailure, protocol.Encode(failure)) == nil {
		_ = stream.CloseWrite()
	}
}

// consumer is what a client receives of an execution.
type consumer interface {
	acker
	// join begins to take output, and returns how much of it there was before.
	join(e *execution) (position int64)
	// run serves the stream to its end.
	run(ctx context.Context, in *input) error
	// leave says that the client takes no more. It may be called without join and run.
	leave()
}

// newConsumer makes the one for a mode, and what of it has to be there before the command
// writes its first byte.
func newConsumer(mode protocol.Mode) (consumer, streamSink, error) {
	switch mode {
	case protocol.ModeView:
		return newWatcher(), nil, nil
	case protocol.ModeRaw:
		r := newRaw()
		return r, r, nil
	case protocol.ModeStream:
		st := newStream()
		return st, st, nil
	}
	return nil, nil, refuse(protocol.CodeBadRequest, "unknown mode %.40q: this agent may be too old for it", mode)
}

// shorten cuts a message that quotes much of what a client sent, in its middle.
func shorten(f *protocol.Failure) *protocol.Failure {
	const head, tail = 300, 160
	if len(f.Message) <= head+tail {
		return f
	}
	text := f.Message[:head] + "…" + f.Message[len(f.Message)-tail:]
	return &protocol.Failure{Code: f.Code, Message: strings.ToValidUTF8(text, "")}
}

// watch serves a stream that starts an execution or attaches to one.
func (s *session) watch(ctx context.Context, stream *transport.Stream, open *protocol.Open) error {
	c, sink, err := newConsumer(open.Mode)
	if err != nil {
		return err
	}
	defer c.leave()
	if len(open.Input) > protocol.MaxInputBytes {
		return refuse(protocol.CodeBadRequest, "a writer's name of %d bytes is over %d", len(open.Input), protocol.MaxInputBytes)
	}
	e, existing, err := s.target(open, sink)
	if err != nil {
		return err
	}
	if open.Mode == protocol.ModeStream && existing {
		return refuse(protocol.CodeNoStream, "execution %q exists: a stream begins with its execution, so that it has every byte", e.spec.ID)
	}
	if err := s.register(open.Watcher, c); err != nil {
		return err
	}
	defer s.unregister(open.Watcher)
	position := c.join(e)
	err = stream.WriteFrame(protocol.KindStarted, protocol.Encode(protocol.Started{
		ID:          e.spec.ID,
		PID:         e.proc.pid,
		Shell:       e.proc.path,
		Interactive: e.spec.Interactive,
		Stdin:       e.spec.Stdin,
		Position:    position,
		Existing:    existing,
	}))
	if err != nil {
		return err
	}
	return c.run(ctx, &input{
		e:       e,
		stream:  stream,
		name:    open.Input,
		refused: func(f *protocol.Failure) { s.notify(&protocol.Notice{Watcher: open.Watcher, Failure: f}) },
		taken:   func(n int64) { s.notify(&protocol.Notice{Watcher: open.Watcher, Taken: n}) },
	})
}

// target finds or starts what the stream is about.
func (s *session) target(open *protocol.Open, sink streamSink) (e *execution, existing bool, err error) {
	switch {
	case open.Type == protocol.OpenStart && open.Spec != nil:
		spec := *open.Spec
		if open.Mode == protocol.ModeStream {
			spec = protocol.ForStream(spec)
		}
		return s.agent.startStream(spec, sink)
	case open.Type == protocol.OpenAttach:
		e, err = s.agent.find(open.ID)
		return e, true, err
	}
	return nil, false, refuse(protocol.CodeBadRequest, "a stream is for control, start (with a spec) or attach, not %.40q", open.Type)
}

func (s *session) register(number uint64, w acker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers[number] != nil {
		return refuse(protocol.CodeBadRequest, "watcher %d is in use on this connection", number)
	}
	s.watchers[number] = w
	return nil
}

func (s *session) unregister(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, number)
}
