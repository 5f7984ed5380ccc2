//go:build linux

package execagent

// This file is what clients may do to a running execution: signals and the terminal's size.

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/execagent/execagent/transport/protocol"
	"golang.org/x/sys/unix"
)

// maxSignal is Linux's SIGRTMAX.
const maxSignal = 64

// signal sends a signal to the command's process group, by name with or without SIG, or by
// number. Its error is a [*protocol.Failure].
func (e *execution) signal(name string) error {
	sig, ok := parseSignal(name)
	if !ok {
		return refuse(protocol.CodeBadSignal, "signal %.40q is unknown: give a name such as INT or SIGHUP, or a number from 1 to %d", name, maxSignal)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reaped {
		return e.hasEnded()
	}
	switch err := unix.Kill(-e.proc.pid, sig); err {
	case nil:
		return nil
	case unix.ESRCH:
		return e.hasEnded()
	default:
		return refuse(protocol.CodeRefused, "signal %s to execution %q: %v", unix.SignalName(sig), e.spec.ID, err)
	}
}

func parseSignal(name string) (unix.Signal, bool) {
	if n, err := strconv.Atoi(name); err == nil {
		return unix.Signal(n), n >= 1 && n <= maxSignal
	}
	sig := unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG"))
	return sig, sig != 0
}

// resize sets the size of the command's terminal. Its error is a [*protocol.Failure].
func (e *execution) resize(columns, rows int) error {
	if err := protocol.CheckSize(columns, rows); err != nil {
		return refuse(protocol.CodeBadSize, "%v", err)
	}
	if e.spec.Pipe {
		return refuse(protocol.CodeNoTerminal, "execution %q has pipes and no terminal: there is nothing to resize", e.spec.ID)
	}
	if e.progress().state != protocol.Running || e.proc.resize(columns, rows) != nil {
		return e.hasEnded() // the PTY is closed at the end of its output
	}
	e.out.resize(columns, rows)
	return nil
}

func (e *execution) hasEnded() error {
	return refuse(protocol.CodeEnded, "execution %q has ended", e.spec.ID)
}

func refuse(code protocol.Code, format string, args ...any) error {
	return &protocol.Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}
