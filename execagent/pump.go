//go:build linux

package execagent

// This file is step 1, PTY or pipe to output: the only reader, which never waits for a peer.

import (
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

// readBuffers are shared: an execution that waits for output holds none.
var readBuffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// pump moves a command's output until its end. life watches its progress.
type pump struct {
	file *os.File
	out  *output
	done chan struct{} // closed at the end of the output, after the spill is closed

	// waiting says that everything written so far was read. lastRead is when, in Unix
	// nanoseconds, and total how many bytes.
	waiting  atomic.Bool
	lastRead atomic.Int64
	total    atomic.Int64

	buf *[readSize]byte // nil while waiting
	n   int             // bytes in it
	err error           // why no more will come
}

func newPump(file *os.File, out *output) *pump {
	return &pump{file: file, out: out, done: make(chan struct{})}
}

// run reads until end of file. On Linux the end of a PTY is EIO, after the last byte.
func (p *pump) run() {
	defer close(p.done)
	defer p.out.close()
	defer p.file.Close()
	conn, err := p.file.SyscallConn()
	for err == nil && p.err == nil {
		p.n = 0
		err = conn.Read(p.ready)
		if p.n > 0 {
			p.out.write(p.buf[:p.n])
			p.total.Add(int64(p.n))
			p.lastRead.Store(time.Now().UnixNano())
		}
	}
	p.release()
}

// ready reads what there is, and reports false when that is nothing yet.
func (p *pump) ready(fd uintptr) bool {
	if p.buf == nil {
		p.buf = readBuffers.Get().(*[readSize]byte)
	}
	p.waiting.Store(false)
	for p.n < len(p.buf) && p.err == nil {
		n, err := unix.Read(int(fd), p.buf[p.n:])
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN && p.n > 0:
			return true
		case err == syscall.EAGAIN:
			p.release()
			p.waiting.Store(true)
			return false
		case err != nil:
			p.err = err
		case n == 0:
			p.err = os.ErrClosed
		default:
			p.n += n
		}
	}
	return true
}

func (p *pump) release() {
	if p.buf != nil {
		readBuffers.Put(p.buf)
		p.buf = nil
	}
}
