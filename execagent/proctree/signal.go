//go:build linux

package proctree

// This file signals a process without ever reaching another one.

import "golang.org/x/sys/unix"

// signal sends s to the process, if it still is the one that was looked at. SIGTERM brings
// SIGCONT with it. An error means that there is nobody left to signal, or that the process
// may not be signalled by this user, which Kill reports as a survivor.
func (p ident) signal(s unix.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil && err != unix.ENOSYS && err != unix.EPERM { // EPERM: a seccomp filter's
		return
	}
	if err == nil {
		defer unix.Close(fd)
	}
	// The check comes after the descriptor, which from then on means this process only.
	var now stat
	if !readStat(p.pid, &now) || now.ident != p {
		return
	}
	send := func(s unix.Signal) {
		if err != nil || unix.PidfdSendSignal(fd, s, nil, 0) == unix.ENOSYS {
			_ = unix.Kill(p.pid, s)
		}
	}
	send(s)
	if s == unix.SIGTERM {
		send(unix.SIGCONT)
	}
}
