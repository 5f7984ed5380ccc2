//go:build linux

package proctree

// This file is the Manager's cgroup, below which each tree gets one.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// basePrefix begins the name of every Manager's cgroup. One that is not locked has lost its
// Manager.
const basePrefix = "execagent-"

// base is a Manager's cgroup. It holds no process but, once limits were asked for, perhaps the
// daemon itself.
type base struct {
	location
	own    location // of this process, and parent of base
	daemon bool     // this process may be moved to where it does not hinder limits
	lock   *os.File // flocked as long as the Manager lives
	groups atomic.Uint64

	mu      sync.Mutex // held while controllers are enabled
	enabled map[string]bool

	spare atomic.Pointer[cgroup] // made ahead for the next tree, or nil
}

// newBase makes the Manager's cgroup in the first hierarchy that lets it and can kill.
func newBase(instance string, daemon bool) (*base, error) {
	if !canClone3() {
		return nil, errors.New("clone3 is missing or filtered, so nothing can be started in a cgroup")
	}
	owns, err := ownCgroups()
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, own := range owns {
		sweep(own.dir)
		b := &base{location: own.child(baseName(instance)), own: own, daemon: daemon, enabled: make(map[string]bool)}
		if err := b.make(); err != nil {
			errs = append(errs, err)
			continue
		}
		return b, nil
	}
	return nil, errors.Join(errs...)
}

// serial tells Managers of this process apart.
var serial atomic.Uint64

func baseName(instance string) string {
	return fmt.Sprintf("%s%s-%d-%d", basePrefix, instance, os.Getpid(), serial.Add(1))
}

// canClone3 asks for a clone that cannot be: a kernel that knows clone3 says EINVAL.
func canClone3() bool {
	_, _, errno := unix.RawSyscall(unix.SYS_CLONE3, 0, 0, 0)
	return errno == unix.EINVAL
}

func (b *base) make() (err error) {
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.lock, err = os.Open(b.dir); err != nil {
		return err
	}
	if err := unix.Flock(int(b.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("lock %q: %w", b.dir, err)
	}
	if kind := readWord(b.dir, "cgroup.type"); kind != "domain" {
		return fmt.Errorf("cgroup %q is %q, which holds threads only", b.dir, kind)
	}
	// The kill file last: it is also how a sweep between Mkdir and Flock is noticed.
	if err := unix.Access(filepath.Join(b.dir, "cgroup.kill"), unix.W_OK); err != nil {
		return fmt.Errorf("cgroup.kill in %q: %w: it needs Linux 5.14", b.dir, err)
	}
	if lists(b.dir, "cgroup.controllers", "memory") {
		_ = passOn(b.dir, "memory") // for Usage; limits ask again and report the failure
	}
	return nil
}

// newGroup returns the cgroup of one tree.
func (b *base) newGroup(lim Limits) (*cgroup, error) {
	c := b.spare.Swap(nil)
	if c == nil {
		var err error
		if c, err = b.makeGroup(); err != nil {
			return nil, err
		}
	}
	if err := c.limit(lim); err != nil {
		c.closeFiles()
		c.remove()
		return nil, err
	}
	c.nothing = c.nothing && lim.MemoryMax == 0 // the controller may be new
	return c, nil
}

// makeGroup makes a cgroup. Its name is a number: an ID is the client's.
func (b *base) makeGroup() (*cgroup, error) {
	c := &cgroup{location: b.child(strconv.FormatUint(b.groups.Add(1), 10))}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return nil, fmt.Errorf("proctree: making a cgroup: %w", err)
	}
	return c, nil
}

// makeSpare makes a cgroup ahead, when there is time for it.
func (b *base) makeSpare() {
	if b.spare.Load() != nil {
		return
	}
	c, err := b.makeGroup()
	if err != nil {
		return
	}
	c.openFiles()
	if !b.spare.CompareAndSwap(nil, c) {
		c.closeFiles()
		c.remove()
	}
}

// close removes what is empty and reports whether that was everything.
func (b *base) close() bool {
	if c := b.spare.Swap(nil); c != nil {
		c.closeFiles()
	}
	removed := (&cgroup{location: b.location}).remove()
	if b.lock != nil {
		b.lock.Close()
	}
	return removed
}

// sweep removes the cgroups of Managers that ended without Close, in so far as their
// leftovers have ended.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), basePrefix) {
			sweepOne(filepath.Join(dir, e.Name()))
		}
	}
}

func sweepOne(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		(&cgroup{location: location{dir: dir}}).remove()
	}
}
