//go:build linux

package proctree

// This file limits a tree's memory and processes, with the controllers of its cgroup.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits bound a whole tree. Zero is no limit, less is an error.
type Limits struct {
	// MemoryMax is how many bytes all processes may hold together, swap excluded: past it
	// the kernel kills one of them.
	MemoryMax int64
	// PIDsMax is how many processes and threads there may be: past it a fork fails.
	PIDsMax int64
}

// LimitError says that a limit cannot be had here.
type LimitError struct {
	Controller string // "memory" or "pids"
	Remedy     string // what to do about it, a sentence's end
	Err        error  // what the kernel said; nil when it does not offer the controller
}

func (e *LimitError) Error() string {
	cause := ""
	if e.Err != nil {
		cause = ": " + e.Err.Error()
	}
	return fmt.Sprintf("proctree: limiting %s: there is no %s controller for commands%s: %s", e.Controller, e.Controller, cause, e.Remedy)
}

// Unwrap is the kernel's error, if there is one.
func (e *LimitError) Unwrap() error { return e.Err }

const (
	remedyWalk   = "run the agent where it may write to a cgroup v2 hierarchy, or ask for no limit"
	remedyOffer  = "give the agent's cgroup the controller (systemd: Delegate=yes; on a hybrid system boot with the unified hierarchy), or ask for no limit"
	remedyShared = "start the agent alone in its cgroup, or as its own daemon, or ask for no limit"
)

func (l Limits) check() error {
	if l.MemoryMax < 0 || l.PIDsMax < 0 {
		return fmt.Errorf("proctree: limits of %d bytes and %d processes: use 0 for none", l.MemoryMax, l.PIDsMax)
	}
	return nil
}

// controllers are those that the limits need.
func (l Limits) controllers() []string {
	var names []string
	if l.MemoryMax > 0 {
		names = append(names, "memory")
	}
	if l.PIDsMax > 0 {
		names = append(names, "pids")
	}
	return names
}

// without is the error of limits where there are no cgroups.
func (l Limits) without() error {
	for _, name := range l.controllers() {
		return &LimitError{Controller: name, Remedy: remedyWalk}
	}
	return nil
}

// enable makes the controllers that the limits need work in the trees' cgroups.
func (b *base) enable(l Limits) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range l.controllers() {
		if b.enabled[name] {
			continue
		}
		if err := b.enableOne(name); err != nil {
			return err
		}
		b.enabled[name] = true
	}
	return nil
}

// enableOne goes down from this process's own cgroup: a controller works in a cgroup when
// every parent passes it on.
func (b *base) enableOne(name string) error {
	if !lists(b.own.dir, "cgroup.controllers", name) {
		return &LimitError{Controller: name, Remedy: remedyOffer}
	}
	if !lists(b.own.dir, "cgroup.subtree_control", name) {
		err := passOn(b.own.dir, name)
		if errors.Is(err, unix.EBUSY) && b.moveAside() {
			err = passOn(b.own.dir, name)
		}
		if err != nil {
			return &LimitError{Controller: name, Remedy: remedyShared, Err: err}
		}
	}
	if err := passOn(b.dir, name); err != nil {
		return &LimitError{Controller: name, Remedy: remedyOffer, Err: err}
	}
	return nil
}

// moveAside moves a daemon that is alone in its cgroup to one below: but for the root, a
// cgroup holds processes or passes controllers on, never both.
func (b *base) moveAside() bool {
	pids, _ := readPIDs(filepath.Join(b.own.dir, "cgroup.procs"))
	if !b.daemon || !slices.Equal(pids, []int{os.Getpid()}) {
		return false
	}
	// Outside base, which must pass controllers on too.
	aside := filepath.Join(b.own.dir, asideName(b.dir))
	if err := os.Mkdir(aside, 0o755); err != nil {
		return false
	}
	return write(aside, "cgroup.procs", "0") == nil
}

// asideName has the prefix of a base, so that a later sweep finds it.
func asideName(dir string) string { return filepath.Base(dir) + "-agent" }

func passOn(dir, controller string) error {
	return write(dir, "cgroup.subtree_control", "+"+controller)
}

// limit sets the limits of one tree.
func (c *cgroup) limit(l Limits) error {
	if l.MemoryMax > 0 {
		if err := write(c.dir, "memory.max", strconv.FormatInt(l.MemoryMax, 10)); err != nil {
			return &LimitError{Controller: "memory", Remedy: remedyOffer, Err: err}
		}
		// Else the limit would only push memory to disk. Without swap there is no such file.
		_ = write(c.dir, "memory.swap.max", "0")
	}
	if l.PIDsMax > 0 {
		if err := write(c.dir, "pids.max", strconv.FormatInt(l.PIDsMax, 10)); err != nil {
			return &LimitError{Controller: "pids", Remedy: remedyOffer, Err: err}
		}
	}
	return nil
}

// write writes a control file, which must exist.
func write(dir, name, text string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func lists(dir, file, word string) bool {
	return slices.Contains(strings.Fields(readWord(dir, file)), word)
}
