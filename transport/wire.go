// This file wraps the connection under a session: it counts the bytes, keeps
// the first error, and closes once.

package transport

import (
	"io"
	"sync"
	"sync/atomic"
)

// wire is a connection with a meter. Read and Write may run concurrently, one
// of each; Close may be called from anywhere, any number of times.
type wire struct {
	conn    io.ReadWriteCloser
	in, out atomic.Int64 // bytes, handshake included

	mu     sync.Mutex // guards the rest; not held across I/O
	closed bool
	first  error // the first error of conn while it was open
}

// hangerUp is a connection whose Close waits for something. HangUp must release
// Read and Write and return at once; Close must be called afterwards.
type hangerUp interface{ HangUp() }

// explainer is a connection that knows, once closed, more than its errors say.
type explainer interface{ Epilogue() string }

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.conn.Read(p)
	w.in.Add(int64(n))
	w.note(err)
	return n, err
}

func (w *wire) Write(p []byte) (int, error) {
	n, err := w.conn.Write(p)
	w.out.Add(int64(n))
	w.note(err)
	return n, err
}

// note keeps the first error that we did not cause by closing.
func (w *wire) note(err error) {
	if err == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first == nil && !w.closed {
		w.first = err
	}
}

// cause returns the first error of the connection, or nil if we closed it.
func (w *wire) cause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first
}

// Close releases blocked reads and writes. It does not wait for what may stand
// behind the connection; finish does.
func (w *wire) Close() error {
	w.mu.Lock()
	again := w.closed
	w.closed = true
	w.mu.Unlock()
	if again {
		return nil
	}
	if h, ok := w.conn.(hangerUp); ok {
		h.HangUp()
		return nil
	}
	return w.conn.Close()
}

// finish closes and waits. It may be called after Close and repeatedly.
func (w *wire) finish() {
	w.Close()
	if _, ok := w.conn.(hangerUp); ok {
		w.conn.Close()
	}
}

// epilogue says what the connection knows about its end, or "".
func (w *wire) epilogue() string {
	if e, ok := w.conn.(explainer); ok {
		return e.Epilogue()
	}
	return ""
}
