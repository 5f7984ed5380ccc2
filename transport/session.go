// This file is one connection's life after the handshake: streams, keepalive,
// the order of closing.

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

// Session is one authenticated connection that carries many streams. Its
// methods may be called concurrently. Whoever made it closes it.
type Session struct {
	wire      *wire
	mux       *yamux.Session
	peer      Hello
	readLimit int
	peerLimit int
	clocks    clocks
	done      chan struct{}
	wg        sync.WaitGroup

	mu      sync.Mutex // guards the rest; not held across I/O
	ending  bool       // no more goroutines
	endedBy error      // why this side ended the session, if it did
}

func newSession(w *wire, agreed agreement, opts Options, start func(io.ReadWriteCloser, *yamux.Config) (*yamux.Session, error)) (*Session, error) {
	mux, err := start(newRecorder(w), muxConfig(opts.Logger, opts.clocks))
	if err != nil {
		w.finish()
		return nil, fmt.Errorf("transport: starting the multiplexer: %w", err)
	}
	s := &Session{
		wire: w, mux: mux, peer: agreed.peer,
		readLimit: opts.ReadLimit, peerLimit: agreed.maxPayload, clocks: opts.clocks,
		done: make(chan struct{}),
	}
	s.wg.Go(s.keepAlive)
	s.wg.Go(s.awaitEnd)
	return s, nil
}

// Peer returns what the other side said of itself.
func (s *Session) Peer() Hello { return s.peer }

// BytesRead returns the bytes read from the connection, handshake included, without what TLS
// adds.
func (s *Session) BytesRead() int64 { return s.wire.in.Load() }

// BytesWritten returns the bytes written to it, handshake included, without what TLS adds.
func (s *Session) BytesWritten() int64 { return s.wire.out.Load() }

// Done is closed when the session has ended, by either side or a failure, and
// the connection is closed.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns nil while the session lives, and then why it ended: an error that
// wraps [ErrSessionClosed] and, if there was one, the cause.
func (s *Session) Err() error {
	if !s.mux.IsClosed() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch cause := s.wire.cause(); {
	case s.endedBy != nil:
		return s.endedBy
	case errors.Is(cause, io.EOF):
		return fmt.Errorf("transport: %w by the peer", ErrSessionClosed)
	case cause != nil:
		return fmt.Errorf("transport: %w: connection lost: %w", ErrSessionClosed, cause)
	}
	return fmt.Errorf("transport: %w: the peer broke the multiplexer's rules", ErrSessionClosed)
}

// Open makes a new stream. It returns when the request is on its way, not when
// the peer has accepted it; it waits while 256 streams are not yet accepted.
func (s *Session) Open(ctx context.Context) (*Stream, error) {
	type result struct {
		stream *yamux.Stream
		err    error
	}
	results := make(chan result)
	// yamux cannot be told to give up, so a goroutine waits for it and closes
	// what comes too late.
	started := s.spawn(func() {
		stream, err := s.mux.OpenStream()
		select {
		case results <- result{stream, err}:
		case <-ctx.Done():
			if err == nil {
				stream.Close()
			}
		}
	})
	if !started {
		return nil, s.Err()
	}
	select {
	case r := <-results:
		if r.err != nil {
			return nil, fmt.Errorf("transport: opening a stream: %w", s.translate(r.err))
		}
		return newStream(s, r.stream), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("transport: opening a stream: %w", ctx.Err())
	}
}

// Accept waits for a stream that the peer opens.
func (s *Session) Accept(ctx context.Context) (*Stream, error) {
	stream, err := s.mux.AcceptStreamWithContext(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("transport: accepting a stream: %w", ctx.Err())
		}
		return nil, fmt.Errorf("transport: accepting a stream: %w", s.translate(err))
	}
	return newStream(s, stream), nil
}

// Close ends the session and every stream of it, closes the connection and
// waits for the session's goroutines. What was written before is on its way,
// but only an end of frames that was read tells that all of it arrived. Close
// may be called repeatedly, and always returns nil.
func (s *Session) Close() error {
	s.end(fmt.Errorf("transport: %w on this side", ErrSessionClosed))
	s.wg.Wait()
	return nil
}

// end closes the multiplexer for a reason of this side's.
func (s *Session) end(why error) {
	s.mu.Lock()
	if s.endedBy == nil && !s.mux.IsClosed() {
		s.endedBy = why
	}
	s.mu.Unlock()
	s.mux.Close()
}

// spawn runs f in a goroutine that Close waits for, or says no.
func (s *Session) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return false
	}
	s.wg.Go(f)
	return true
}

// awaitEnd completes the end, whoever began it.
func (s *Session) awaitEnd() {
	<-s.mux.CloseChan()
	s.mux.Close() // returns when the close that is under way is complete
	s.wire.finish()
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	close(s.done)
}

// keepAlive ends the session when the peer no longer answers.
func (s *Session) keepAlive() {
	tick := time.NewTicker(s.clocks.keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.mux.CloseChan():
			return
		}
		if _, err := s.mux.Ping(); err != nil {
			s.end(fmt.Errorf("transport: %w: no sign of life from the peer for %v", ErrSessionClosed, s.clocks.write))
			return
		}
	}
}

// translate turns yamux's errors into ours.
func (s *Session) translate(err error) error {
	if errors.Is(err, yamux.ErrConnectionWriteTimeout) {
		// What was to be written may still be in yamux's queue or half on the
		// wire: no stream of this session can be trusted any more.
		s.end(fmt.Errorf("transport: %w: the peer took no bytes for %v", ErrSessionClosed, s.clocks.write))
	}
	if ended := s.Err(); ended != nil {
		return ended
	}
	switch {
	case errors.Is(err, yamux.ErrTimeout):
		return os.ErrDeadlineExceeded
	case errors.Is(err, yamux.ErrConnectionReset):
		return ErrStreamReset
	case errors.Is(err, yamux.ErrStreamClosed):
		return ErrStreamClosed
	case errors.Is(err, io.ErrClosedPipe), errors.Is(err, net.ErrClosed):
		// yamux tells a writer of the connection's end before it notes that itself.
		return fmt.Errorf("%w: %w", ErrSessionClosed, err)
	}
	return err
}
