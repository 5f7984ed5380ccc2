//go:build linux

package proctree

// This file finds the cookie in a process's environment.

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// cookieVar is the variable that holds a tree's cookie, "INSTANCE/ID".
const cookieVar = "EXECAGENT_COOKIE"

const (
	maxEnviron = 8 << 20 // bytes; the kernel allows 6 MiB of arguments and environment
	maxCookie  = maxInstance + 1 + maxID
)

// readCookie is the cookie in the environment that the process was started with, or "". It is
// "" also for a zombie, and for a process of another user.
func readCookie(pid int) string {
	fd, err := unix.Open(procPath(pid, "environ"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	return scanCookie(func(b []byte) (int, error) { return unix.Read(fd, b) })
}

// scanCookie reads NUL-terminated variables, keeping no more than one buffer of them.
func scanCookie(read func([]byte) (int, error)) string {
	const sign = "\x00" + cookieVar + "="
	var buf [16 << 10]byte
	have := 1 // a NUL before the first variable
	for total := 0; total < maxEnviron; {
		n, err := read(buf[have:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return ""
		}
		total += n
		have += n
		text := buf[:have]
		if i := bytes.Index(text, []byte(sign)); i >= 0 {
			value := text[i+len(sign):]
			if end := bytes.IndexByte(value, 0); end >= 0 {
				return string(value[:end])
			}
		}
		// Keep what may be the beginning of the variable.
		have = copy(buf[:], text[max(0, have-len(sign)-maxCookie):])
	}
	return ""
}
