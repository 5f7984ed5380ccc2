// One spill file: bytes in, batched writes to disk out, an exact account of what is safe.

package spill

import (
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// flushDelay is how long a byte waits for company, at most. It leaves the scheduler 50 ms of
// the 200 ms that are promised.
const flushDelay = 150 * time.Millisecond

// FileOptions are the choices of one File. The zero value is usable.
type FileOptions struct {
	// OnError, if not nil, is called once, with the *WriteError, when the file has become
	// incomplete: from the goroutine that noticed, which may be the File's own timer, and
	// with no lock held. It must not call Close, which waits for that timer.
	OnError func(err error)
}

// budget is what a File may take of the disk.
type budget interface {
	// grant lets it write n bytes more, or fewer with the reason.
	grant(n int64) (int64, error)
	// refund gives back what was granted and could not be written.
	refund(n int64)
	// closed says that it takes no more.
	closed()
}

// A File receives the raw output of one command. It is made by [Record.Create], written by
// one goroutine and closed by the caller of Create; all methods but Write may be called by
// any goroutine at any time.
//
//	[ safe: in the kernel | used: in the buffer | not yet written ]
//
// safe + used = bytes written, until the first error: then safe is final and used is 0.
type File struct {
	path    string
	budget  budget
	onError func(error)

	safe     atomic.Int64
	failure  atomic.Pointer[WriteError] // the first error; set once
	reported atomic.Bool                // onError was called

	timers sync.WaitGroup // one while the timer is armed or its function runs

	mu     sync.Mutex     // guards what follows; held across write(2), never across onError
	out    io.WriteCloser // the open file
	buf    *buffer        // nil when idle; while there is one the timer is armed
	used   int            // bytes waiting in buf
	timer  *time.Timer    // made at the first need
	closed bool
}

func newFile(path string, out io.WriteCloser, b budget, opts FileOptions) *File {
	return &File{path: path, out: out, budget: b, onError: opts.OnError}
}

// Path returns the absolute path of the file.
func (f *File) Path() string { return f.path }

// Safe returns how many bytes of the output, from the first, the kernel has certainly taken:
// what a reader of the file finds in it, unless it was removed. It never decreases.
func (f *File) Safe() int64 { return f.safe.Load() }

// Err returns the first error, a [*WriteError], or nil while the file is complete up to what
// still waits in the buffer.
func (f *File) Err() error {
	if failure := f.failure.Load(); failure != nil {
		return failure
	}
	return nil
}

// Write appends p. It waits for the local disk at most. After the first error of the File,
// whoever met it, p is dropped and the error is returned again; n counts the bytes of p that
// are safe in the file. After Close the error is [fs.ErrClosed], unless there was one before.
func (f *File) Write(p []byte) (n int, err error) {
	f.mu.Lock()
	n, err = f.write(p)
	f.mu.Unlock()
	f.report()
	return n, err
}

// Flush hands the bytes that wait to the kernel now and returns the error of the File.
func (f *File) Flush() error {
	f.mu.Lock()
	err := f.usable()
	if err == nil {
		err = f.flushAll()
	}
	f.mu.Unlock()
	f.report()
	return err
}

// Close flushes and closes the file, waits for the timer's goroutine, and returns the error
// of the File: nil means that the file holds every byte that was written. It may be called
// again, with the same result.
func (f *File) Close() error {
	f.mu.Lock()
	f.close()
	f.mu.Unlock()
	f.report()
	f.timers.Wait()
	return f.Err()
}

// usable returns why nothing more can be written, or nil. Callers hold mu, as for all below.
func (f *File) usable() error {
	if err := f.Err(); err != nil {
		return err
	}
	if f.closed {
		return fmt.Errorf("spill: write %q: file is closed: %w", f.path, fs.ErrClosed)
	}
	return nil
}

func (f *File) write(p []byte) (int, error) {
	if err := f.usable(); err != nil {
		return 0, err
	}
	start := f.safe.Load() + int64(f.used)
	for rest := p; len(rest) > 0; {
		n, err := f.take(rest)
		if err != nil {
			return int(max(0, f.safe.Load()-start)), err
		}
		rest = rest[n:]
	}
	return len(p), nil
}

// take accepts the beginning of p: all of it without a copy if it makes a write of its own, else
// what the buffer has room for.
func (f *File) take(p []byte) (int, error) {
	if len(p) >= pieceSize {
		if err := f.flush(); err != nil {
			return 0, err
		}
		return len(p), f.writeOut(p)
	}
	if f.buf == nil {
		f.buf = getBuffer()
		f.arm()
	}
	n := copy(f.buf[f.used:], p)
	f.used += n
	if f.used < bufferSize {
		return n, nil
	}
	return n, f.flush()
}

// flush writes what waits and keeps the buffer for what follows; the timer takes it away.
func (f *File) flush() error {
	if f.used == 0 {
		return nil
	}
	n := f.used
	f.used = 0
	return f.writeOut(f.buf[:n])
}

// flushAll also makes sure that a reader would find it.
func (f *File) flushAll() error {
	if err := f.flush(); err != nil {
		return err
	}
	if f.removed() {
		f.failure.Store(&WriteError{Path: f.path, Err: ErrRemoved})
	}
	return f.Err()
}

// removed reports whether the file has no name any more: what is written to it nobody can read.
func (f *File) removed() bool {
	named, ok := f.out.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := named.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}

// release gives the empty buffer back.
func (f *File) release() {
	if f.buf != nil {
		putBuffer(f.buf)
		f.buf = nil
	}
}

// writeOut is the only place that writes to the file. os.File repeats partial writes itself
// and returns the sum with the error that ended them.
func (f *File) writeOut(p []byte) error {
	granted, limit := f.budget.grant(int64(len(p)))
	n, err := 0, error(nil)
	if granted > 0 {
		n, err = writePieces(f.out, p[:granted])
	}
	f.safe.Add(int64(n))
	if int64(n) < granted {
		f.budget.refund(granted - int64(n))
	}
	if err == nil {
		err = limit
	}
	if err != nil {
		return f.fail(err)
	}
	return nil
}

// pieceSize is the most bytes given to one write(2), and enough for one. The page cache takes what is written at once
// in pages as large, and large ones are not always at hand: 1 GiB from a pipe took 0.77 s in pieces
// of 64 KiB, 0.73 in pieces of 128 KiB and 0.71 in pieces of 256 KiB on one day, on another 1.3 s
// with 64 KiB and 2.1 s with 256 KiB (medians of 8 or 9 turns in random order; ext4, Linux 6.18).
const pieceSize = 128 << 10

func writePieces(w io.Writer, p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		piece := p[:min(pieceSize, len(p))]
		m := 0
		if m, err = w.Write(piece); m < len(piece) && err == nil {
			err = io.ErrShortWrite
		}
		n += m
		p = p[m:]
	}
	return n, err
}

// fail makes err the error of the File and returns it so wrapped.
func (f *File) fail(err error) error {
	f.failure.Store(&WriteError{Path: f.path, Safe: f.safe.Load(), Err: err})
	return f.Err()
}

// report tells onError of the first error. It runs without mu.
func (f *File) report() {
	err := f.Err()
	if err == nil || f.onError == nil || !f.reported.CompareAndSwap(false, true) {
		return
	}
	f.onError(err)
}

// arm starts the timer. It runs down once per buffer taken and is not set back by more
// writes: under load that would cost as much as they do, and a trickle would never be seen.
func (f *File) arm() {
	f.timers.Add(1)
	if f.timer == nil {
		f.timer = time.AfterFunc(flushDelay, f.timeout)
		return
	}
	f.timer.Reset(flushDelay)
}

// timeout is the timer's function.
func (f *File) timeout() {
	defer f.timers.Done()
	f.mu.Lock()
	if f.usable() == nil {
		_ = f.flushAll() // its error is kept, and told by report
	}
	f.release()
	f.mu.Unlock()
	f.report()
}

func (f *File) close() {
	if f.closed {
		return
	}
	if f.usable() == nil {
		_ = f.flushAll() // its error is kept, and returned by Close
	}
	f.closed = true
	f.release()
	if f.timer != nil && f.timer.Stop() {
		f.timers.Done()
	}
	if err := f.out.Close(); err != nil && f.Err() == nil {
		_ = f.fail(err)
	}
	f.budget.closed()
}
