//go:build linux

package execagent

// This file starts a process, with resource limits in force from its first instruction.

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/execagent/execagent/transport/protocol"
	"golang.org/x/sys/unix"
)

// resources are the limits a spec may set, by the names of setrlimit(2).
var resources = map[string]int{
	"AS": unix.RLIMIT_AS, "CORE": unix.RLIMIT_CORE, "CPU": unix.RLIMIT_CPU, "DATA": unix.RLIMIT_DATA,
	"FSIZE": unix.RLIMIT_FSIZE, "MEMLOCK": unix.RLIMIT_MEMLOCK, "NOFILE": unix.RLIMIT_NOFILE,
	"NPROC": unix.RLIMIT_NPROC, "RSS": unix.RLIMIT_RSS, "STACK": unix.RLIMIT_STACK,
}

// forkExec is syscall.ForkExec with resource limits. The limits are another process's to set,
// and the command must not run before: it is traced up to its exec, limited, and let go.
func forkExec(path string, argv []string, attr *syscall.ProcAttr, limits map[string]protocol.Rlimit) (pid int, err error) {
	if len(limits) == 0 {
		return syscall.ForkExec(path, argv, attr)
	}
	if err := checkRlimits(limits); err != nil {
		return 0, err
	}
	runtime.LockOSThread() // a tracer is a thread
	defer runtime.UnlockOSThread()
	attr.Sys.Ptrace = true
	if pid, err = syscall.ForkExec(path, argv, attr); err != nil {
		return 0, err
	}
	err = limitStopped(pid, limits)
	if detach := syscall.PtraceDetach(pid); err == nil {
		err = detach
	}
	if err != nil {
		_ = unix.Kill(pid, unix.SIGKILL)
		_, _ = unix.Wait4(pid, nil, 0, nil)
		return 0, err
	}
	return pid, nil
}

// limitStopped waits for the stop at the exec and sets the limits.
func limitStopped(pid int, limits map[string]protocol.Rlimit) error {
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &ws, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || !ws.Stopped() {
			return fmt.Errorf("wait for the exec: status %#x, %v", uint32(ws), err)
		}
		break
	}
	for name, l := range limits {
		if err := unix.Prlimit(pid, resources[name], &unix.Rlimit{Cur: l.Soft, Max: l.Hard}, nil); err != nil {
			return fmt.Errorf("rlimit %s %d:%d: %w", name, l.Soft, l.Hard, err)
		}
	}
	return nil
}

func checkRlimits(limits map[string]protocol.Rlimit) error {
	for name := range limits {
		if _, ok := resources[name]; !ok {
			known := make([]string, 0, len(resources))
			for n := range resources {
				known = append(known, n)
			}
			slices.Sort(known)
			return fmt.Errorf("rlimit %.40q: unknown: give one of %s", name, strings.Join(known, " "))
		}
	}
	return nil
}
