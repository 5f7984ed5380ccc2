//go:build linux

package proctree

// This file reads one process's files in /proc (proc_pid_stat(5), proc_pid_cmdline(5)).

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ident is a process for good: its pid alone may be given to another.
type ident struct {
	pid   int
	start uint64 // clock ticks since boot
}

// stat is what a walk needs of /proc/PID/stat.
type stat struct {
	ident
	name    string
	state   byte
	ppid    int
	session int
	threads int
}

// living reports whether the process still runs code. One whose main thread has ended is
// shown as a zombie while other threads go on.
func (s *stat) living() bool { return s.state != 'Z' && s.state != 'X' || s.threads > 1 }

func (s *stat) process() Process { return Process{s.pid, commandLine(s)} }

const (
	maxStat    = 1024    // bytes; the kernel writes less than 500
	maxCommand = 200     // bytes of a command line that are shown
	maxList    = 8 << 20 // bytes of a list of pids: more than pid_max can be
)

// Fields of stat after the parenthesised name.
const (
	fieldState   = 0
	fieldPPID    = 1
	fieldSession = 3
	fieldThreads = 17
	fieldStart   = 19
)

// readStat reports whether the process exists.
func readStat(pid int, s *stat) bool {
	var buf [maxStat]byte
	n := readInto(procPath(pid, "stat"), buf[:])
	return n > 0 && parseStat(pid, buf[:n], s)
}

func parseStat(pid int, line []byte, s *stat) bool {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return false
	}
	*s = stat{ident: ident{pid: pid}, name: string(line[open+1 : end])}
	field := 0
	for rest := line[end+1:]; field <= fieldStart; field++ {
		rest = bytes.TrimLeft(rest, " ")
		i := bytes.IndexByte(rest, ' ')
		if i < 1 {
			return false
		}
		s.set(field, rest[:i])
		rest = rest[i:]
	}
	return true
}

func (s *stat) set(field int, value []byte) {
	switch field {
	case fieldState:
		s.state = value[0]
	case fieldPPID:
		s.ppid = int(number(value))
	case fieldSession:
		s.session = int(number(value))
	case fieldThreads:
		s.threads = int(number(value))
	case fieldStart:
		s.start = number(value)
	}
}

// number is a decimal of the kernel's; anything else, a minus sign too, is 0.
func number(digits []byte) uint64 {
	n, err := strconv.ParseUint(string(digits), 10, 63)
	if err != nil {
		return 0
	}
	return n
}

func procPath(pid int, file string) string { return "/proc/" + strconv.Itoa(pid) + "/" + file }

// readInto fills buf from the beginning of a file and returns how much there was, 0 when the
// file could not be read. It is a third of the system calls of os.ReadFile.
func readInto(path string, buf []byte) int {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || m <= 0 {
			break
		}
		n += m
	}
	return n
}

// readPIDs reads a file that lists pids. It reports false when there is no such file.
func readPIDs(path string) ([]int, bool) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	var text []byte
	var buf [4096]byte
	for len(text) < maxList {
		n, err := unix.Read(fd, buf[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, false
		}
		if n == 0 {
			break
		}
		text = append(text, buf[:n]...)
	}
	return parsePIDs(text), true
}

// parsePIDs skips 0, which stands for a process outside this pid namespace.
func parsePIDs(text []byte) []int {
	var pids []int
	for field := range bytes.FieldsSeq(text) {
		if pid := int(number(field)); pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A process that has no command line is looked at so often, in case it is at its exec.
const (
	execTries = 10
	execWait  = time.Millisecond
)

// commandLine is what a person would recognise the process by.
func commandLine(s *stat) string {
	var buf [maxCommand + 4]byte // a rune more than is shown, so as to know that there is more
	n := 0
	// A process in the middle of its exec has none yet.
	for range execTries {
		if n = readInto(procPath(s.pid, "cmdline"), buf[:]); n > 0 || s.state == 'Z' {
			break
		}
		time.Sleep(execWait)
	}
	text := clean(bytes.TrimRight(buf[:n], "\x00"))
	if text == "" {
		return "[" + clean([]byte(s.name)) + "]"
	}
	if n > maxCommand {
		return strings.ToValidUTF8(text[:min(len(text), maxCommand-len("…"))], "") + "…"
	}
	return text
}

// clean makes one line of valid UTF-8: the words of a command line end in NUL.
func clean(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(b), "\uFFFD"))
}
