// This file is one stream: frames each way, half-closing, closing.

package transport

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

// Stream carries frames in both directions beside other streams of a
// [Session]. One goroutine may read while another writes; writers wait for each
// other; Close and the deadlines may be called from anywhere. Whoever opened or
// accepted a stream must Close it, also after both directions have ended.
type Stream struct {
	session *Session
	mux     *yamux.Stream

	frames  frameReader // used by the reader only
	readErr error       // the error that ended reading; the reader's too

	writing  sync.Mutex // held across writes
	past     history    // of what was written
	writeErr error      // the error that ended writing

	mu     sync.Mutex // guards closed, and that no deadline is set after it; not held across I/O
	closed bool
}

// shrinkAbove is the size on the wire of a frame, in bytes, after which yamux's
// buffer for the stream is given up: it keeps what its largest frame took. Not
// below a usual update, which would then allocate each time.
const shrinkAbove = 64 << 10

// longAgo as a deadline releases whoever waits.
var longAgo = time.Unix(1, 0)

func newStream(s *Session, mux *yamux.Stream) *Stream {
	return &Stream{session: s, mux: mux, frames: frameReader{r: mux, limit: s.readLimit}}
}

// ReadFrame returns the next frame. The payload is valid until the next call.
//
// The error is io.EOF when the peer has ended its direction with CloseWrite or
// Close; nothing else is. io.ErrUnexpectedEOF means that the stream ended
// without that, inside a frame or between two. A session that ends shows as its
// [Session.Err]. A frame over the read limit is a [*FrameTooLargeError], a
// broken one wraps [ErrMalformedFrame]: both end the stream, and with Close the
// peer will learn of it. os.ErrDeadlineExceeded before the first byte of a
// frame leaves the stream usable. Every other error is final and returned again.
func (st *Stream) ReadFrame() (Kind, []byte, error) {
	if st.readErr != nil {
		return 0, nil, st.readErr
	}
	kind, payload, begun, err := st.frames.next()
	if err == nil {
		if st.frames.length > shrinkAbove {
			st.mux.Shrink()
		}
		return kind, payload, nil
	}
	st.frames.release()
	final, err := st.readError(err, begun)
	if final {
		st.readErr = err
	}
	return 0, nil, err
}

// readError gives err its public form and says whether it ends the reading.
func (st *Stream) readError(err error, begun bool) (final bool, _ error) {
	if err == io.EOF {
		return true, err
	}
	if st.isClosed() {
		return true, fmt.Errorf("transport: reading a frame: %w", ErrStreamClosed)
	}
	if tooLarge := (*FrameTooLargeError)(nil); errors.As(err, &tooLarge) || errors.Is(err, ErrMalformedFrame) {
		st.abandon()
		return true, fmt.Errorf("transport: reading a frame: %w", err)
	}
	err = st.session.translate(err)
	if err == io.ErrUnexpectedEOF {
		return true, err
	}
	return begun || !errors.Is(err, os.ErrDeadlineExceeded), fmt.Errorf("transport: reading a frame: %w", err)
}

// abandon stops the peer's direction after a broken frame: our half is closed
// too, so that the peer notices, and yamux resets the stream later.
func (st *Stream) abandon() { st.mux.Close() }

// WriteFrame sends one frame, compressed if that pays, and returns when it is
// handed to the connection. It waits while the peer's window is full.
//
// A payload over [MaxPayload] or over what the peer accepts is a
// [*FrameTooLargeError] and a kind over [MaxKind] an error; both before anything
// is sent. Any other error, a deadline included, may have left part of a frame
// behind: it is final for this direction and returned again.
func (st *Stream) WriteFrame(kind Kind, payload []byte) error {
	return st.writeFrame(kind, payload, false)
}

// WriteSimilar is WriteFrame for a small payload that is like others before it on the stream: it
// is compressed with what they were, to half the size or less. It costs about 100 µs, so it is
// for frames of which there are a few a second.
func (st *Stream) WriteSimilar(kind Kind, payload []byte) error {
	return st.writeFrame(kind, payload, true)
}

func (st *Stream) writeFrame(kind Kind, payload []byte, similar bool) error {
	return st.writeFrames(similar, false, Frame{kind, payload})
}

// writeFrames hands frames to the connection at once, and with end the end of our direction.
func (st *Stream) writeFrames(similar, end bool, frames ...Frame) error {
	for _, f := range frames {
		if err := st.check(f.Kind, f.Payload); err != nil {
			return err
		}
	}
	st.writing.Lock()
	defer st.writing.Unlock()
	if st.writeErr != nil {
		return st.writeErr
	}
	buf := getBuffer()
	defer putBuffer(buf)
	*buf = (*buf)[:0]
	var past *history
	if similar {
		past = &st.past
	}
	for _, f := range frames {
		*buf = appendFrame(*buf, f.Kind, f.Payload, past)
		st.past.add(f.Payload)
	}
	if !end {
		return st.write(*buf)
	}
	*buf = append(*buf, endOfFrames[:]...)
	return st.finish(*buf)
}

func (st *Stream) check(kind Kind, payload []byte) error {
	if kind > MaxKind {
		return fmt.Errorf("transport: writing a frame: kind %d is over %d", kind, MaxKind)
	}
	if limit := st.session.peerLimit; len(payload) > limit {
		return &FrameTooLargeError{Kind: kind, Size: uint64(len(payload)), Max: uint64(limit)}
	}
	return nil
}

// CloseWrite ends our direction: the peer reads io.EOF after the last frame.
// Reading goes on. It waits like a write.
func (st *Stream) CloseWrite() error {
	st.writing.Lock()
	defer st.writing.Unlock()
	return st.endFrames()
}

// Frame is a payload and what it is.
type Frame struct {
	Kind    Kind
	Payload []byte
}

// Finish is WriteFrame for the last frames, and then CloseWrite, but hands all of it to the
// connection at once: the peer need not wake up for each. A frame that cannot be sent is an
// error before anything is sent.
func (st *Stream) Finish(last ...Frame) error { return st.writeFrames(false, true, last...) }

// endFrames sends the end-of-frames mark once. The caller holds writing.
func (st *Stream) endFrames() error {
	if errors.Is(st.writeErr, errHalfClosed) {
		return nil
	}
	if st.writeErr != nil {
		return st.writeErr
	}
	return st.finish(endOfFrames[:])
}

// finish sends the end of our direction. The caller holds writing.
func (st *Stream) finish(end []byte) error {
	err := st.write(end)
	if err == nil {
		st.writeErr = fmt.Errorf("transport: writing a frame: %w", errHalfClosed)
	}
	return err
}

// errHalfClosed is ErrStreamClosed for the writing half only.
var errHalfClosed = fmt.Errorf("%w for writing", ErrStreamClosed)

// write hands b to the multiplexer in pieces. The caller holds writing.
func (st *Stream) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), maxChunk)
		if _, err := st.mux.Write(b[:n]); err != nil {
			err = st.session.translate(err)
			if st.isClosed() {
				err = ErrStreamClosed
			}
			st.writeErr = fmt.Errorf("transport: writing a frame: %w", err)
			return st.writeErr
		}
		b = b[n:]
	}
	return nil
}

// Close ends both directions and releases blocked reads and writes of this
// side. If no write is in progress the peer reads io.EOF after the last frame,
// else io.ErrUnexpectedEOF. A peer that has not closed its end 30 seconds later
// is cut off, and loses what it has not read: to be sure that everything was
// read, CloseWrite and read until io.EOF before Close. Close may be called
// repeatedly, and always returns nil.
func (st *Stream) Close() error {
	if !st.markClosed() {
		return nil
	}
	if st.writing.TryLock() {
		st.endFrames()
		st.writeErr = fmt.Errorf("transport: writing a frame: %w", ErrStreamClosed)
		st.writing.Unlock()
	}
	return st.mux.Close()
}

// markClosed sets closed, releases whoever waits, and says whether it was first.
func (st *Stream) markClosed() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return false
	}
	st.closed = true
	st.mux.SetReadDeadline(longAgo)
	st.mux.SetWriteDeadline(longAgo) // also: Close's mark must not wait for the window
	return true
}

func (st *Stream) isClosed() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.closed
}

// SetReadDeadline bounds present and later calls of ReadFrame; the zero time
// means no bound.
func (st *Stream) SetReadDeadline(t time.Time) error {
	return st.setDeadline(st.mux.SetReadDeadline, t)
}

// SetWriteDeadline bounds how long present and later calls of WriteFrame wait
// for the peer's window; the zero time means no bound.
func (st *Stream) SetWriteDeadline(t time.Time) error {
	return st.setDeadline(st.mux.SetWriteDeadline, t)
}

func (st *Stream) setDeadline(set func(time.Time) error, t time.Time) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return fmt.Errorf("transport: setting a deadline: %w", ErrStreamClosed)
	}
	return set(t)
}
