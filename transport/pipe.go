// This file is the connection to an agent in the same process.

package transport

import (
	"io"
	"os"
	"sync"
)

// pipeBuffer is how many bytes one direction of a Pipe holds before a write
// waits. net.Pipe holds none, which costs two goroutine switches a write.
const pipeBuffer = 64 << 10

// Pipe returns the two ends of a connection inside this process: one for
// [Client], one for [Server]. Closing either end lets the other read what was
// written and then io.EOF.
func Pipe() (client, agent io.ReadWriteCloser) {
	up, down := newPipeHalf(), newPipeHalf()
	return &pipeEnd{in: down, out: up}, &pipeEnd{in: up, out: down}
}

// pipeEnd is one end: it reads one half and writes the other.
type pipeEnd struct{ in, out *pipeHalf }

func (p *pipeEnd) Read(b []byte) (int, error)  { return p.in.read(b) }
func (p *pipeEnd) Write(b []byte) (int, error) { return p.out.write(b) }

// Close ends both halves. It is idempotent.
func (p *pipeEnd) Close() error {
	p.out.finish()
	p.in.drop()
	return nil
}

// pipeHalf is one direction: a ring of pipeBuffer bytes, allocated at the first
// write.
type pipeHalf struct {
	mu       sync.Mutex // guards all below
	changed  sync.Cond
	ring     []byte
	start, n int  // the n bytes from start on, wrapping, are unread
	finished bool // the writer has closed
	dropped  bool // the reader has closed
}

func newPipeHalf() *pipeHalf {
	h := &pipeHalf{}
	h.changed.L = &h.mu
	return h
}

func (h *pipeHalf) read(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.dropped:
			return 0, os.ErrClosed
		case len(b) == 0:
			return 0, nil
		case h.n > 0:
			h.changed.Broadcast()
			return h.take(b), nil
		case h.finished:
			return 0, io.EOF
		}
		h.changed.Wait()
	}
}

func (h *pipeHalf) write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	total := 0
	for {
		switch {
		case h.finished:
			return total, os.ErrClosed
		case h.dropped:
			return total, io.ErrClosedPipe
		case total == len(b):
			return total, nil
		case h.n < pipeBuffer:
			total += h.put(b[total:])
			h.changed.Broadcast()
		default:
			h.changed.Wait()
		}
	}
}

// take moves unread bytes to b, at most up to the end of the ring.
func (h *pipeHalf) take(b []byte) int {
	n := copy(b, h.ring[h.start:min(h.start+h.n, len(h.ring))])
	h.start = (h.start + n) % len(h.ring)
	h.n -= n
	return n
}

// put adds bytes of b, at most up to the end of the ring.
func (h *pipeHalf) put(b []byte) int {
	if h.ring == nil {
		h.ring = make([]byte, pipeBuffer)
	}
	end := (h.start + h.n) % len(h.ring)
	n := copy(h.ring[end:min(end+len(h.ring)-h.n, len(h.ring))], b)
	h.n += n
	return n
}

// finish is the writer's close.
func (h *pipeHalf) finish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.finished = true
	h.changed.Broadcast()
}

// drop is the reader's close: what is unread is lost.
func (h *pipeHalf) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropped, h.ring, h.n = true, nil, 0
	h.changed.Broadcast()
}
