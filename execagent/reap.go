//go:build linux

package execagent

// This file waits for a command's leader without a thread, and names how it ended.

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"github.com/execagent/execagent/execagent/proctree"
	"golang.org/x/sys/unix"
)

// status is how a leader ended.
type status struct {
	code   int            // exit code, when signal is 0
	signal syscall.Signal // what killed it
	used   usage          // by it and the children it waited for
}

// exitCode is the shell's convention.
func (s status) exitCode() int {
	if s.signal != 0 {
		return 128 + int(s.signal)
	}
	return s.code
}

// signalName is the signal without SIG, or "".
func (s status) signalName() string {
	if s.signal == 0 {
		return ""
	}
	if name := unix.SignalName(s.signal); name != "" {
		return name[len("SIG"):]
	}
	return fmt.Sprint(int(s.signal))
}

// siginfo is the kernel's siginfo_t as waitid fills it on 64-bit Linux (<asm-generic/siginfo.h>).
type siginfo struct {
	signo, errno, code int32
	_                  int32
	pid                int32
	uid                uint32
	status             int32
	_                  [100]byte
}

const (
	cldExited = 1 // si_code CLD_EXITED; otherwise si_status is a signal
)

// awaitExit blocks until the leader has ended, and leaves it a zombie: until reap, its pid
// and process group cannot become somebody else's.
func (p *process) awaitExit() (status, error) {
	if p.pidfd == nil {
		return waitid(unix.P_PID, p.pid, 0)
	}
	conn, err := p.pidfd.SyscallConn()
	if err != nil {
		return status{}, err
	}
	var s status
	var inner error
	err = conn.Read(func(fd uintptr) bool {
		s, inner = waitid(unix.P_PIDFD, int(fd), unix.WNOHANG)
		return inner != errStillRunning
	})
	if err == nil {
		err = inner
	}
	return s, err
}

var errStillRunning = fmt.Errorf("the process is running")

func waitid(kind, id, options int) (status, error) {
	var info siginfo
	var ru unix.Rusage
	for {
		err := unix.Waitid(kind, id, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT|options, &ru)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return status{}, os.NewSyscallError("waitid", err)
		case info.pid == 0:
			return status{}, errStillRunning
		case info.code == cldExited:
			return status{code: int(info.status), used: usageOf(&ru)}, nil
		default:
			return status{signal: syscall.Signal(info.status), used: usageOf(&ru)}, nil
		}
	}
}

// usage is what a command has used: the leader and the children it waited for, or, where the
// kernel accounts for it, the whole tree.
type usage struct {
	cpu       time.Duration
	maxRSS    int64 // KiB, of the largest process, or of all together
	oomKilled bool
}

func usageOf(ru *unix.Rusage) usage {
	return usage{cpu: time.Duration(ru.Utime.Nano() + ru.Stime.Nano()), maxRSS: int64(ru.Maxrss)}
}

// of takes what is known of the whole tree.
func (u usage) of(tree proctree.Usage) usage {
	u.cpu = max(u.cpu, tree.CPU)
	if tree.PeakMemory > 0 {
		u.maxRSS = tree.PeakMemory >> 10
	}
	u.oomKilled = tree.OOMKilled
	return u
}

// reap removes the ended leader from the process table.
func (p *process) reap() {
	for {
		if _, err := unix.Wait4(p.pid, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	if p.pidfd != nil {
		p.pidfd.Close()
	}
}
