// This file moves standard input and output out of everybody's way on Linux.

package transport

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// takeStdio returns descriptors 0 and 1 under new numbers, closed on exec, and
// puts harmless ones in their place.
func takeStdio() (in, out io.ReadWriteCloser) {
	in, out = moveAway(0, os.Stdin), moveAway(1, os.Stdout)
	if null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		unix.Dup3(null, 0, 0)
		if unix.Dup3(2, 1, 0) != nil { // no standard error
			unix.Dup3(null, 1, 0)
		}
		unix.Close(null)
	}
	return in, out
}

// moveAway returns fd under another number. If that fails it returns fallback,
// which gives the error when it is used.
func moveAway(fd int, fallback *os.File) io.ReadWriteCloser {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return fallback
	}
	moved, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return fallback
	}
	// Non-blocking, so that the poller has it and Close releases a blocked
	// read; with os.Stdin it would not.
	unix.SetNonblock(moved, true)
	return &movedFile{
		File:  os.NewFile(uintptr(moved), fallback.Name()),
		reset: flags&unix.O_NONBLOCK == 0,
	}
}

// movedFile gives the descriptor its old mode back when it is closed. The mode
// is that of the terminal or pipe, so whoever else has it, such as the shell
// that started us, would find its reads failing.
type movedFile struct {
	*os.File
	reset bool
}

// Close closes the file first: a read that began after the reset would block.
func (f *movedFile) Close() error {
	again := -1
	if f.reset {
		if raw, err := f.SyscallConn(); err == nil {
			raw.Control(func(fd uintptr) { again, _ = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3) })
		}
	}
	err := f.File.Close()
	if again > 0 {
		unix.SetNonblock(again, false)
		unix.Close(again)
	}
	return err
}
