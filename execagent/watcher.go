//go:build linux

package execagent

// This file is the way from an execution to one client: a watcher on a stream.

import (
	"context"

	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// watcher tells one client of one execution. Its stream's handler owns it.
type watcher struct {
	e         *execution
	stream    *transport.Stream
	input     input
	publisher *limits.Publisher
	document  document
}

func newWatcher(in input) *watcher {
	return &watcher{e: in.e, stream: in.stream, input: in, publisher: limits.NewPublisher(), document: document{e: in.e}}
}

// acked says that the client has taken so many batches.
func (w *watcher) acked(batches int) { w.publisher.Acked(batches) }

// run serves the stream until the result is sent and the client has left, or the client
// leaves before, or ctx ends.
func (w *watcher) run(ctx context.Context) error {
	return w.input.during(ctx, w.publish)
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
