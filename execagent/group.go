//go:build linux

package execagent

// This file finds and signals the processes of a command's process group.

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"github.com/execagent/execagent/transport/protocol"
	"golang.org/x/sys/unix"
)

// signalGroup signals every process of the group. The caller knows that the group is the
// command's: its leader is not reaped yet.
func signalGroup(pgid int, s unix.Signal) {
	_ = unix.Kill(-pgid, s) // ESRCH: nobody left, which is what was wanted
	if s == unix.SIGTERM {
		_ = unix.Kill(-pgid, unix.SIGCONT) // a stopped process acts on no signal but KILL
	}
}

// groupExists reports whether the group has a process, a zombie included.
func groupExists(pgid int) bool { return unix.Kill(-pgid, 0) != unix.ESRCH }

// relation is what binds a process to a command's leader: a field of /proc/PID/stat, counted
// from the one after the parenthesised name (proc(5)).
type relation int

const (
	ofGroup   relation = 2
	ofSession relation = 3
)

// members lists the living processes of the group or session that a leader began, without it.
func members(leader int, r relation) []protocol.Process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []protocol.Process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err == nil && pid != leader && belongs(pid, leader, r) {
			found = append(found, protocol.Process{PID: pid, Command: commandLine(pid)})
		}
	}
	return found
}

func belongs(pid, leader int, r relation) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= int(ofSession) || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return false
	}
	return string(fields[r]) == strconv.Itoa(leader)
}

// commandLine is the process's arguments, shortened.
func commandLine(pid int) string {
	const most = 200
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return ""
	}
	text := strings.ToValidUTF8(string(bytes.ReplaceAll(bytes.TrimRight(line, "\x00"), []byte{0}, []byte{' '})), "\uFFFD")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
