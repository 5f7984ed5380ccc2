//go:build linux

package execagent

// This file is the lossless stream: every byte of a command to one client, which holds the
// command back while it does not read.

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// deaf is how long the client of a stream may take nothing after its command was killed,
// before the command's end no longer waits for it.
const deaf = 3 * time.Second

// stream is the one lossless consumer of an execution. The pumps write to it, and block; its
// stream's handler runs it.
type stream struct {
	begun chan struct{}     // closed when to may be used
	to    *transport.Stream // set before begun is closed
	gone  chan struct{}     // closed by leave: writes return at once
	once  sync.Once

	writing sync.Mutex    // held across writes, so that the result comes after them
	frames  atomic.Uint64 // how many were written
	blocked atomic.Bool   // one is being written
}

func newStream() *stream {
	return &stream{begun: make(chan struct{}), gone: make(chan struct{})}
}

// write sends the next bytes. It blocks while the client does not read.
func (s *stream) write(p []byte, stderr bool) {
	kind := transport.Kind(protocol.KindOutput)
	if stderr {
		kind = protocol.KindErrOutput
	}
	for len(p) > 0 {
		n := min(len(p), protocol.MaxOutputFrame)
		if !s.frame(kind, p[:n]) {
			return
		}
		p = p[n:]
	}
}

// eof says that the command has closed an output, which need not be its end.
func (s *stream) eof(stderr bool) {
	if stderr {
		s.frame(protocol.KindErrOutputEnd, nil)
	} else {
		s.frame(protocol.KindOutputEnd, nil)
	}
}

// frame sends one frame, unless the client has left.
func (s *stream) frame(kind transport.Kind, payload []byte) bool {
	select {
	case <-s.begun:
	case <-s.gone:
		return false
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	select {
	case <-s.gone:
		return false
	default:
	}
	s.blocked.Store(true)
	err := s.to.WriteFrame(kind, payload)
	s.blocked.Store(false)
	if err != nil {
		s.leave()
		return false
	}
	s.frames.Add(1)
	return true
}

// join has nothing to begin: a stream is its execution's sink from the start.
func (s *stream) join(*execution) (position int64) { return 0 }

// leave ends the stream: what the command writes from now on goes to the view and the spill
// alone. A write that is blocked ends with the transport's stream.
func (s *stream) leave() { s.once.Do(func() { close(s.gone) }) }

// Changed says nothing that the bytes do not.
func (s *stream) Changed(limits.Change) {}

// acked says nothing: the transport's window is the credit of a stream.
func (s *stream) acked(int) {}

// run serves the stream until the result is sent and the client has left, or the client
// leaves before, or ctx ends. The command's input ends with it: nobody else is to write it, and
// a server whose client is gone should end.
func (s *stream) run(ctx context.Context, in *input) error {
	s.to = in.stream
	close(s.begun)
	defer in.e.stdin.close()
	return in.during(ctx, func(ctx context.Context) error { return s.serve(ctx, in.e) })
}

func (s *stream) serve(ctx context.Context, e *execution) error {
	e.watch(s)
	defer e.unwatch(s)
	defer s.leave()
	killed, settled := e.killed, e.settled
	var patience <-chan time.Time
	seen := uint64(0)
	for {
		select {
		case <-settled:
			s.leave() // what leftovers write is not waited for
			s.writing.Lock()
			defer s.writing.Unlock()
			return s.to.Finish(resultFrame(e))
		case <-killed:
			killed = nil
			seen, patience = s.frames.Load(), time.After(deaf)
		case <-patience:
			now := s.frames.Load()
			if now == seen && s.blocked.Load() {
				return fmt.Errorf("execution %q was killed, and its client takes no more", e.spec.ID)
			}
			seen, patience = now, time.After(deaf)
		case <-s.gone:
			return transport.ErrStreamClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
