//go:build linux

package proctree

// This file is the cgroup of one tree (the kernel's Documentation/admin-guide/cgroup-v2.rst).

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cgroup is a cgroup and those that commands have made inside it. What a tree needs of it is
// opened when nobody waits for it: an open takes five times as long as the read.
type cgroup struct {
	location
	dirfd   int  // of the cgroup, for the fork; this and the next two are 0 when not open
	events  int  // of cgroup.events
	cpu     int  // of cpu.stat
	nothing bool // to find in memory.events
}

// openFiles opens what it can. The rest is opened when it is needed.
func (c *cgroup) openFiles() {
	c.openDir()
	c.events = openFile(c.dir, "cgroup.events")
	c.cpu = openFile(c.dir, "cpu.stat")
	c.nothing = unix.Access(filepath.Join(c.dir, "memory.events"), unix.R_OK) != nil
}

func openFile(dir, name string) int {
	fd, err := unix.Open(filepath.Join(dir, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	return fd
}

// openDir returns the cgroup's descriptor. A failure becomes EBADF of the fork.
func (c *cgroup) openDir() int {
	if c.dirfd == 0 {
		fd, err := unix.Open(c.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return -1
		}
		c.dirfd = fd
	}
	return c.dirfd
}

func (c *cgroup) closeDir() { closeFile(&c.dirfd) }

func (c *cgroup) closeFiles() {
	c.closeDir()
	closeFile(&c.events)
	closeFile(&c.cpu)
}

func closeFile(fd *int) {
	if *fd > 0 {
		unix.Close(*fd)
		*fd = 0
	}
}

const (
	maxCgroupFile = 4096 // bytes of the files with a few numbers
	maxNesting    = 64   // levels below a tree's cgroup that are looked into
)

type cgroupFile [maxCgroupFile]byte

// populated reports whether a living process is in the cgroup or below. Zombies are not.
func (c *cgroup) populated() bool {
	var buf cgroupFile
	return value(c.readOpen(c.events, "cgroup.events", &buf), "populated") == 1
}

// processes lists the pids in the cgroup and below, zombies left out.
func (c *cgroup) processes() []int { return processesBelow(c.dir, maxNesting) }

func processesBelow(dir string, levels int) []int {
	pids, ok := readPIDs(filepath.Join(dir, "cgroup.procs"))
	if !ok || levels == 0 {
		return pids
	}
	for _, name := range subgroups(dir) {
		pids = append(pids, processesBelow(filepath.Join(dir, name), levels-1)...)
	}
	return pids
}

// subgroups names the directories in dir. A cgroup without any has two links.
func subgroups(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// holds reports whether the process is in the cgroup or below: since its pid was listed it
// may have ended and the pid been given away.
func (c *cgroup) holds(pid int) bool {
	var buf cgroupFile
	path, ok := unifiedPath(buf[:readInto(procPath(pid, "cgroup"), buf[:])])
	return ok && (path == c.path || strings.HasPrefix(path, c.path+"/"))
}

// kill sends SIGKILL to everything in the cgroup and below at once, forks under way included.
func (c *cgroup) kill() {
	// It fails only when the cgroup is gone, and with it every process.
	_ = os.WriteFile(filepath.Join(c.dir, "cgroup.kill"), []byte("1"), 0)
}

// remove removes the cgroup and those below, and reports whether it is gone.
func (c *cgroup) remove() bool { return removeBelow(c.dir, maxNesting) }

func removeBelow(dir string, levels int) bool {
	err := os.Remove(dir)
	if err == nil || os.IsNotExist(err) {
		return true
	}
	if levels == 0 {
		return false
	}
	for _, name := range subgroups(dir) {
		removeBelow(filepath.Join(dir, name), levels-1)
	}
	err = os.Remove(dir)
	return err == nil || os.IsNotExist(err)
}

// usage reads what the controllers in use have counted.
func (c *cgroup) usage() Usage {
	var buf cgroupFile
	u := Usage{CPU: time.Duration(value(c.readOpen(c.cpu, "cpu.stat", &buf), "usage_usec")) * time.Microsecond}
	if c.nothing {
		return u
	}
	if events := c.read("memory.events", &buf); len(events) > 0 { // else nobody counts memory
		u.OOMKilled = value(events, "oom_kill") > 0
		u.PeakMemory = int64(number(bytes.TrimSpace(c.read("memory.peak", &buf))))
	}
	return u
}

// read reads a file into buf and returns that part of it.
func (c *cgroup) read(name string, buf *cgroupFile) []byte {
	return buf[:readInto(filepath.Join(c.dir, name), buf[:])]
}

// readOpen is read of a file that may be open.
func (c *cgroup) readOpen(fd int, name string, buf *cgroupFile) []byte {
	if fd == 0 {
		return c.read(name, buf)
	}
	n, err := unix.Pread(fd, buf[:], 0)
	for err == unix.EINTR {
		n, err = unix.Pread(fd, buf[:], 0)
	}
	return buf[:max(n, 0)] // nothing when the cgroup is gone
}

// value is the number beside key in a flat keyed file, 0 without one.
func value(text []byte, key string) uint64 {
	for line := range bytes.Lines(text) {
		if k, v, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" ")); ok && string(k) == key {
			return number(v)
		}
	}
	return 0
}

// readWord is a file's only word.
func readWord(dir, name string) string {
	var buf cgroupFile
	return string(bytes.TrimSpace(buf[:readInto(filepath.Join(dir, name), buf[:])]))
}
