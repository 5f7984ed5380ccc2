//go:build linux

package execagent

// This file is the raw watcher: a command's bytes as they come, for a person's terminal.

import (
	"context"
	"sync"

	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// raw sends one client the bytes of one execution. A client that falls behind by
// [protocol.MaxRawBehind] misses everything up to the present: a person wants to see what is,
// not to wait for what was.
//
//	[ acknowledged | sent: unacked | missed | waiting: buf ]
//
// unacked + len(buf) ≤ MaxRawBehind, and missed bytes come before those in buf.
type raw struct {
	wake chan struct{} // holds a token when there may be something to send
	tap  *output       // what it taps, nil for the sink; set by join

	mu      sync.Mutex // guards the rest; not held across I/O
	left    bool       // nothing more is taken
	buf     []byte
	missed  int64
	unacked int
}

func newRaw() *raw { return &raw{wake: make(chan struct{}, 1)} }

// raw takes the next bytes. It never blocks.
func (r *raw) raw(p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left {
		return
	}
	if r.unacked+len(r.buf)+len(p) > protocol.MaxRawBehind {
		r.missed += int64(len(r.buf))
		r.buf = r.buf[:0]
	}
	if r.unacked+len(p) > protocol.MaxRawBehind {
		r.missed += int64(len(p))
	} else {
		r.buf = append(r.buf, p...)
	}
	r.poke()
}

// write makes a raw watcher the sink of an execution that it starts, so that it has the very
// first byte. After leave it drops what it gets.
func (r *raw) write(p []byte, _ bool) { r.raw(p) }

// eof says nothing that the result will not.
func (r *raw) eof(bool) {}

// Changed says nothing that the bytes do not.
func (r *raw) Changed(limits.Change) {}

func (r *raw) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// acked says that the client has taken so many bytes.
func (r *raw) acked(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unacked -= max(0, min(bytes, r.unacked))
	r.poke()
}

// join taps the output, unless r is the execution's sink, which has it from the start.
func (r *raw) join(e *execution) (position int64) {
	if e.sink == streamSink(r) {
		return 0
	}
	r.tap = e.out
	return r.tap.tap(r)
}

// leave takes nothing more; what was taken can still be sent. It may be called more than once.
func (r *raw) leave() {
	r.mu.Lock()
	r.left = true
	r.poke()
	r.mu.Unlock()
	if r.tap != nil {
		r.tap.untap(r)
	}
}

// run sends output until the result is sent and the client has left, or the client leaves
// before, or ctx ends.
func (r *raw) run(ctx context.Context, in *input) error {
	return in.during(ctx, func(ctx context.Context) error { return r.publish(ctx, in.e, in.stream) })
}

func (r *raw) publish(ctx context.Context, e *execution, stream *transport.Stream) error {
	e.watch(r)
	defer e.unwatch(r)
	defer r.leave()
	settled := e.settled
	for {
		empty, err := r.send(stream)
		if err != nil {
			return err
		}
		if empty && settled == nil {
			return stream.Finish(resultFrame(e))
		}
		select {
		case <-r.wake:
		case <-settled:
			settled = nil
			r.leave() // what leftovers write is not waited for
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send sends what the client has room for, and reports whether that was everything.
func (r *raw) send(stream *transport.Stream) (empty bool, err error) {
	chunk := readBuffers.Get().(*[readSize]byte)
	defer readBuffers.Put(chunk)
	for err == nil {
		missed, n := r.take(chunk[:protocol.MaxOutputFrame])
		switch {
		case missed > 0:
			err = stream.WriteFrame(protocol.KindGap, protocol.Encode(protocol.Gap{Bytes: missed}))
		case n > 0:
			err = stream.WriteFrame(protocol.KindOutput, chunk[:n])
		default:
			return r.empty(), nil
		}
	}
	return false, err
}

// take moves the next thing to send out of the watcher: a gap, or bytes into p, or nothing.
func (r *raw) take(p []byte) (missed int64, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.missed > 0 {
		missed, r.missed = r.missed, 0
		return missed, 0
	}
	n = copy(p[:max(0, min(len(p), protocol.RawWindow-r.unacked))], r.buf)
	r.unacked += n
	r.buf = r.buf[:copy(r.buf, r.buf[n:])]
	if len(r.buf) == 0 {
		r.buf = nil // an idle terminal costs no buffer
	}
	return 0, n
}

func (r *raw) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.buf) == 0 && r.missed == 0
}
