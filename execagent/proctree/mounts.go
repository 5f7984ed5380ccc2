//go:build linux

package proctree

// This file finds where cgroup v2 is mounted and which directory is this process's own
// (proc_pid_mountinfo(5), cgroups(7)).

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// location is a cgroup by its two names.
type location struct {
	dir  string // in the filesystem
	path string // in /proc/PID/cgroup
}

func (l location) child(name string) location {
	return location{filepath.Join(l.dir, name), filepath.Join(l.path, name)}
}

// ownCgroups are this process's own cgroup v2 in each place where it is mounted.
func ownCgroups() ([]location, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	cgroups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	path, ok := unifiedPath(cgroups)
	if !ok {
		return nil, errors.New("/proc/self/cgroup names no cgroup v2")
	}
	var own []location
	for _, m := range cgroup2Mounts(mounts) {
		if rel, ok := under(m.path, path); ok {
			own = append(own, location{filepath.Join(m.dir, rel), path})
		}
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("cgroup2 is mounted nowhere that shows %q", path)
	}
	return own, nil
}

// unifiedPath is the line "0::PATH" of a /proc/PID/cgroup.
func unifiedPath(text []byte) (string, bool) {
	for line := range bytes.Lines(text) {
		if path, ok := bytes.CutPrefix(line, []byte("0::")); ok {
			return strings.TrimSuffix(string(path), "\n"), true
		}
	}
	return "", false
}

// cgroup2Mounts lists mount points with the cgroup each shows as its root.
func cgroup2Mounts(mountinfo []byte) []location {
	var found []location
	for line := range strings.Lines(string(mountinfo)) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if ok && len(fields) >= 5 && strings.HasPrefix(after, "cgroup2 ") {
			found = append(found, location{dir: unescape(fields[4]), path: unescape(fields[3])})
		}
	}
	return found
}

// under is path relative to root. A path with ".." is outside this cgroup namespace.
func under(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, "../") && !strings.HasPrefix(path, "/..")
}

// unescape undoes the octal escapes of blanks and backslashes.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
