//go:build linux

package execagent

// This file is step 1, PTY or pipe to output: the only reader, which never waits for a peer.

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// readSize is the most bytes handed on at once. A PTY gives at most 4 KiB a read, so reads are
// gathered until it is empty or the buffer full.
const readSize = 64 << 10

// retryWait is how long a pump waits for output when it has no descriptor to wait with in the
// poller, before it tries to get one again.
const retryWait = 100 * time.Millisecond

// readBuffers are shared: an execution that waits for output holds none.
var readBuffers = sync.Pool{New: func() any { return new([readSize]byte) }}

var errSourceClosed = fmt.Errorf("read the output: %w", os.ErrClosed)

// pump moves a command's output until its end. life watches its progress.
//
// A flood from a PTY is written on by a second goroutine, one buffer at a time, while this one
// reads the next: the kernel moves no more than 4 KiB through a PTY ahead of its reader, so every
// microsecond between two reads is added to the command's time. A pipe holds a megabyte.
type pump struct {
	source *source
	pipe   bool
	stderr bool // only stderr comes this way
	out    *output
	ended  chan struct{} // closed at the end of the output

	// waiting says that the last read found nothing. lastRead is when something was read, in
	// Unix nanoseconds, and total how many bytes were read and written on.
	waiting  atomic.Bool
	lastRead atomic.Int64
	total    atomic.Int64

	buf  []byte // nil while waiting
	n    int    // bytes in it
	eios int    // since the last byte
	err  error  // why no more will come

	flood   bool
	marked  time.Time      // when the measure of a flood began, later by what it waited for turns
	since   int            // bytes since then
	behind  sync.WaitGroup // the second goroutine
	writing atomic.Bool    // it is under way
}

// run reads until end of file, or until ctx ends while leftovers hold the output open.
func (p *pump) run(ctx context.Context) {
	defer p.source.release() // last, because nobody waits for this
	defer context.AfterFunc(ctx, p.source.close)()
	defer close(p.ended)
	defer p.out.leave(p.stderr)
	defer p.behind.Wait()
	for p.err == nil {
		read := p.await
		if p.flood {
			read = p.readFlood
		}
		if err := read(); p.err == nil {
			p.err = err
		}
		if p.n > 0 {
			p.handOn()
		}
	}
	p.release()
}

// await reads what there is once there is something.
func (p *pump) await() error {
	if p.source.enterPoller() == nil {
		return p.source.read(p.ready)
	}
	if p.source.over() {
		return errSourceClosed
	}
	return p.source.use(func(fd int) error {
		if !p.ready(uintptr(fd)) {
			awaitReadable(fd, retryWait)
		}
		return nil
	})
}

// handOn writes on what was read, behind the next read if output floods.
func (p *pump) handOn() {
	now := time.Now()
	p.lastRead.Store(now.UnixNano())
	p.behind.Wait()
	p.measure(now)
	if !p.flood || p.pipe {
		p.write(p.buf[:p.n])
		p.n = 0
		return
	}
	full, n := p.buf, p.n
	p.buf, p.n = nil, 0
	p.writing.Store(true)
	p.behind.Go(func() {
		p.write(full[:n])
		putBuffer(full)
		p.writing.Store(false)
	})
}

func (p *pump) write(b []byte) {
	p.out.write(b, p.stderr)
	p.total.Add(int64(len(b)))
}

// ready reads what there is, and reports false when that is nothing yet.
func (p *pump) ready(fd uintptr) bool {
	if p.buf == nil {
		p.buf = getBuffer(false)
	}
	p.waiting.Store(false)
	for p.n < len(p.buf) && p.err == nil {
		if p.took(unix.Read(int(fd), p.buf[p.n:])) {
			continue
		}
		if p.n > 0 {
			break
		}
		p.release()
		p.waiting.Store(true)
		return false
	}
	return true
}

// took enters what a read into the buffer returned, and reports false when there was nothing yet.
//
// The end of a PTY is EIO, on Linux, but only the second in a row: the kernel first looks for
// bytes and then whether the other end is closed, so bytes written between the two, and then
// closed upon, are read after the first EIO (8 of 100 000 PTYs closed upon their last bytes).
func (p *pump) took(n int, err error) bool {
	switch {
	case err == syscall.EINTR:
	case err == syscall.EAGAIN:
		return false
	case err == syscall.EIO && p.eios == 0:
		p.eios++
	case err != nil:
		p.err = err
	case n == 0:
		p.err = io.EOF
	default:
		p.n += n
		p.eios = 0
	}
	return true
}

func (p *pump) release() {
	if p.buf != nil {
		putBuffer(p.buf)
		p.buf = nil
	}
}

func getBuffer(bulk bool) []byte {
	if bulk {
		return bulkBuffers.Get().(*[bulkSize]byte)[:]
	}
	return readBuffers.Get().(*[readSize]byte)[:]
}

func putBuffer(b []byte) {
	if len(b) == bulkSize {
		bulkBuffers.Put((*[bulkSize]byte)(b))
	} else {
		readBuffers.Put((*[readSize]byte)(b))
	}
}

// idle reports whether everything written until now was read and written on.
//
// That the last read found nothing does not say so: it may be long ago, on a machine where the
// pump, or the kernel's own thread that moves bytes through a PTY, waits for a processor. The
// kernel is asked first and the pump second: what was readable no longer is once the pump has
// it, and it only says that it waits when that is written on.
func (p *pump) idle() bool {
	readable := false
	err := p.source.control(func(fd int) error {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		readable = n > 0 || err != nil
		return nil
	})
	if err != nil { // closed
		return true
	}
	return !readable && p.waiting.Load() && !p.writing.Load()
}

// pumps are those of one execution: one, or two when stderr comes by itself.
type pumps []*pump

func newPumps(proc *process, out *output) pumps {
	all := pumps{{source: proc.output, pipe: proc.pipe, out: out, ended: make(chan struct{})}}
	if proc.stderr != nil {
		all = append(all, &pump{source: proc.stderr, pipe: true, stderr: true, out: out, ended: make(chan struct{})})
	}
	return all
}

// done is closed when all have come to the end.
func (p pumps) done() <-chan struct{} { return p[0].out.done }

// idle reports whether everything written until now was read and written on.
func (p pumps) idle() bool {
	for _, one := range p {
		select {
		case <-one.ended:
		default:
			if !one.idle() {
				return false
			}
		}
	}
	return true
}

// lastRead is when something was last read, in Unix nanoseconds.
func (p pumps) lastRead() (latest int64) {
	for _, one := range p {
		latest = max(latest, one.lastRead.Load())
	}
	return latest
}

// total is how many bytes were read.
func (p pumps) total() (n int64) {
	for _, one := range p {
		n += one.total.Load()
	}
	return n
}
