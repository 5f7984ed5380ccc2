//go:build linux

package execagent

// This file is the way from an execution to one client: a watcher on a stream.

import (
	"context"
	"errors"
	"io"

	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// watcher tells one client of one execution. Its stream's handler owns it.
type watcher struct {
	e         *execution
	stream    *transport.Stream
	publisher *limits.Publisher
	document  document
}

func newWatcher(e *execution, stream *transport.Stream) *watcher {
	return &watcher{e: e, stream: stream, publisher: limits.NewPublisher(), document: document{e: e}}
}

// run serves the stream until the result is sent and the client has left, or the client
// leaves before, or ctx ends.
func (w *watcher) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		w.receive(ctx)
		cancel()
	}()
	err := w.publish(ctx)
	if err != nil {
		cancel()
		w.stream.Close() // releases receive
	}
	<-gone
	return err
}

// publish sends batches as the publisher paces them, then the result.
func (w *watcher) publish(ctx context.Context) error {
	w.e.watch(w.publisher)
	defer w.e.unwatch(w.publisher)
	w.publisher.Changed(limits.Urgent) // the base batch
	for {
		if err := w.publisher.Next(ctx); err != nil {
			return err
		}
		final, err := w.send()
		if err != nil {
			return err
		}
		if final {
			if err := w.stream.WriteFrame(protocol.KindResult, protocol.Encode(w.e.result)); err != nil {
				return err
			}
			return w.stream.CloseWrite()
		}
	}
}

// send writes the present state as one batch, if it is new.
func (w *watcher) send() (final bool, err error) {
	b := batches.Get().(*batch)
	defer batches.Put(b)
	final, err = w.document.next(b)
	if err != nil || len(b.wire) == 0 {
		return final, err
	}
	if err := w.stream.WriteFrame(protocol.KindBatch, b.wire); err != nil {
		return false, err
	}
	w.publisher.Sent(len(b.wire))
	return final, nil
}

// receive takes the client's stdin until it leaves. Input that the command no longer takes is
// read and dropped, so that the client's side does not stay blocked on it.
func (w *watcher) receive(ctx context.Context) {
	for {
		kind, payload, err := w.stream.ReadFrame()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, transport.ErrStreamClosed) {
				w.e.agent.log.Debug("a watcher's stream ended", "id", w.e.spec.ID, "error", err)
			}
			return
		}
		switch kind {
		case protocol.KindStdin:
			_ = w.e.stdin.write(ctx, payload)
		case protocol.KindStdinEnd:
			w.e.stdin.close()
		}
	}
}
