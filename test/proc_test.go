//go:build linux

package test

// This file asks the kernel about processes.

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// peakMemory returns the most memory a process has had resident, in bytes.
func peakMemory(t testing.TB, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(kib, "kB\n")), 10, 64)
			if err != nil {
				t.Fatalf("VmHWM of %d: %v", pid, err)
			}
			return n << 10
		}
	}
	t.Fatalf("no VmHWM in /proc/%d/status", pid)
	return 0
}

// cpuTime returns the processor time a process has used, without that of its children.
func cpuTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	const ticks = 100 // a second: USER_HZ, the same on every Linux that Go runs on
	fields := statFields(pid)
	if len(fields) < 13 {
		t.Fatalf("process %d has no stat", pid)
	}
	var sum int64
	for _, field := range fields[11:13] { // utime, stime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatalf("stat of %d: %v", pid, err)
		}
		sum += n
	}
	return time.Duration(sum) * time.Second / ticks
}

// statFields returns the fields of /proc/PID/stat from the state on (proc(5)), none when there
// is no such process.
func statFields(pid int) []string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	fields := statFields(pid)
	return len(fields) > 0 && fields[0] != "Z" && fields[0] != "X"
}

// openFiles counts what a process has open, by what the descriptors lead to: a path, its parts
// that are numbers as N, or a kind such as "socket".
func openFiles(t testing.TB, pid int) map[string]int {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(links) == 0 {
		t.Fatalf("the open files of %d: %v, %v", pid, links, err)
	}
	open := map[string]int{}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil { // else it was closed meanwhile
			kind, _, _ := strings.Cut(target, ":")
			open[number.ReplaceAllString(kind, "/N")]++
		}
	}
	return open
}

var number = regexp.MustCompile(`/[0-9]+\b`)

// awaitFiles waits until a process has no more open than it had before. The directory of the
// spills does not count: it is opened once, at the first need. Nor do the PTY and the cgroup
// that are ready for the next command.
func (a *agent) awaitFiles(t testing.TB, before map[string]int) {
	t.Helper()
	var more map[string]int
	eventually(t, "the agent gives up what commands had open", func() bool {
		more = openFiles(t, a.pid)
		delete(more, a.spillDir)
		for kind, n := range more {
			ready := 0
			if strings.HasPrefix(kind, "/dev/pt") || strings.Contains(kind, "/execagent-") {
				ready = 1
			}
			if n <= max(ready, before[kind]) {
				delete(more, kind)
			}
		}
		return len(more) == 0
	}, &more)
}

// process is a process that was found.
type process struct {
	pid     int
	command string
}

// marked returns the living processes that have this variable in their environment.
func marked(t testing.TB, variable string) (found []process) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), variable) {
			continue // gone, or another user's, or not ours
		}
		dir := filepath.Dir(path)
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found = append(found, process{pid, strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))})
	}
	return found
}

// kill ends processes that a test has started.
func kill(t testing.TB, left []process) {
	t.Helper()
	for _, p := range left {
		if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			t.Errorf("killing %+v: %v", p, err)
		}
	}
	for _, p := range left {
		eventually(t, fmt.Sprintf("%+v is gone", p), func() bool { return !alive(p.pid) })
	}
}

// eventually asks until the answer is yes: for what no event announces. When that takes too
// long it shows what the hints, which are pointers, point to.
func eventually(t testing.TB, what string, yes func() bool, hints ...any) {
	t.Helper()
	for deadline := time.Now().Add(patience); !yes(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, hint := range hints {
				what += fmt.Sprintf(": %+v", reflect.ValueOf(hint).Elem())
			}
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
