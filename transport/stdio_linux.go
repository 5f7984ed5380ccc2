// This file moves standard input and output out of everybody's way on Linux.

package transport

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeStdio returns descriptors 0 and 1 under new numbers, closed on exec, and
// puts harmless ones in their place. They are non-blocking, so that Close
// releases a blocked read: with the plain os.Stdin it would not.
func takeStdio() (in, out *os.File) {
	in, out = moveAway(os.Stdin), moveAway(os.Stdout)
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		unix.Dup3(int(null.Fd()), 0, 0)
		if unix.Dup3(2, 1, 0) != nil { // no standard error
			unix.Dup3(int(null.Fd()), 1, 0)
		}
		null.Close()
	}
	return in, out
}

// moveAway returns a file for what f is now. If that fails, f itself: it gives
// the error when it is used.
func moveAway(f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return f
	}
	unix.SetNonblock(fd, true) // NewFile then uses the poller
	return os.NewFile(uintptr(fd), f.Name())
}
