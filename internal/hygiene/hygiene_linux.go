package hygiene

import (
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// lastSignal is Linux's SIGRTMAX.
const lastSignal = 64

// Clean is for the beginning of main. When signals are blocked it executes the program again,
// from its beginning and without them: Go takes the mask it starts with for the one that
// children get.
func Clean() error {
	if err := unblockSignals(); err != nil {
		return fmt.Errorf("hygiene: unblock signals: %w", err)
	}
	handleIgnored()
	if err := closeOnExec(); err != nil {
		return fmt.Errorf("hygiene: close descriptors on exec: %w", err)
	}
	return nil
}

func unblockSignals() error {
	runtime.LockOSThread() // a mask is a thread's
	defer runtime.UnlockOSThread()
	var none, mask unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &mask); err != nil {
		return err
	}
	if mask == none {
		return nil
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}

// handleIgnored makes each ignored signal one that is caught and dropped, which an exec resets.
func handleIgnored() {
	for s := syscall.Signal(1); s <= lastSignal; s++ {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// closeOnExec marks every descriptor but the standard three.
func closeOnExec() error {
	err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	fds, err := os.ReadDir("/proc/self/fd") // Linux before 5.11
	if err != nil {
		return err
	}
	for _, entry := range fds {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
