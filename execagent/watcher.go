//go:build linux

package execagent

// This file is the way from an execution to one client: a watcher on a stream.

import (
	"context"

	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// watcher tells one client of one execution, by its view. Its stream's handler owns it.
type watcher struct {
	e         *execution
	stream    *transport.Stream
	publisher *limits.Publisher
	document  document
}

func newWatcher() *watcher { return &watcher{publisher: limits.NewPublisher()} }

// acked says that the client has taken so many batches.
func (w *watcher) acked(batches int) { w.publisher.Acked(batches) }

// join has nothing to begin: the base batch is the state as of run.
func (w *watcher) join(*execution) (position int64) { return 0 }

// leave has nothing to end: nobody waits for a view's watcher.
func (w *watcher) leave() {}

// run serves the stream until the result is sent and the client has left, or the client
// leaves before, or ctx ends.
func (w *watcher) run(ctx context.Context, in *input) error {
	w.e, w.stream = in.e, in.stream
	w.document.e = in.e
	return in.during(ctx, w.publish)
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
		if final, err := w.send(); final || err != nil {
			return err
		}
	}
}

// resultFrame is the last frame of a watcher's stream.
func resultFrame(e *execution) transport.Frame {
	return transport.Frame{Kind: protocol.KindResult, Payload: protocol.Encode(e.result)}
}

// send writes the present state as one batch, if it is new, and with a final state the result.
func (w *watcher) send() (final bool, err error) {
	b := batches.Get().(*batch)
	defer batches.Put(b)
	base := !w.document.begun
	final, err = w.document.next(b)
	if err != nil {
		return false, err
	}
	if len(b.wire) > 0 {
		w.publisher.Sent(len(b.wire))
	}
	switch {
	case final && len(b.wire) > 0:
		return true, w.stream.Finish(transport.Frame{Kind: protocol.KindBatch, Payload: b.wire}, resultFrame(w.e))
	case final:
		return true, w.stream.Finish(resultFrame(w.e))
	case base: // there is none like it before
		return false, w.stream.WriteFrame(protocol.KindBatch, b.wire)
	case len(b.wire) > 0:
		return false, w.stream.WriteSimilar(protocol.KindBatch, b.wire)
	}
	return false, nil
}
