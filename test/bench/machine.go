// The machine: what a reader must know to compare.

package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A fact is a line of the machine's description.
type fact struct{ name, value string }

func describeMachine(ctx context.Context) []fact {
	return []fact{
		{"date", time.Now().UTC().Format(time.DateOnly)},
		{"processor", procField("/proc/cpuinfo", "model name") + ", " + strconv.Itoa(runtime.NumCPU()) + " cores"},
		{"memory", procField("/proc/meminfo", "MemTotal")},
		{"kernel", kernel()},
		{"go", runtime.Version() + " " + runtime.GOARCH},
		{"node", version(ctx, "node", "--version")},
		{"script", version(ctx, "script", "--version")},
		{"tmux", version(ctx, "tmux", "-V")},
	}
}

const unknown = "unknown"

// procField returns the first value of that name in a file of "name: value" lines.
func procField(path, name string) string {
	file, err := os.Open(path)
	if err != nil {
		return unknown
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}

func kernel() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return unknown
	}
	return unix.ByteSliceToString(name.Sysname[:]) + " " + unix.ByteSliceToString(name.Release[:])
}

// version asks a program for its version.
func version(ctx context.Context, program string, args ...string) string {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return "absent"
	}
	return strings.TrimSpace(string(out))
}
