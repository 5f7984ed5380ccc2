//go:build linux

package proctree

// This file answers, without a walk where it can, whether anything of a tree is left.

import (
	"os"
	"path/filepath"
	"strconv"
)

// Empty reports whether nobody but the leader is alive. With cgroups it reads one file, or two
// while the leader runs. A subreaper that walks looks at the leader's children and its own: an
// orphan of the tree has become one of those. Without either it is a walk. When processes come
// and go so fast that it cannot be sure, the answer is false.
func (t *Tree) Empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.group != nil:
		return t.emptyGroup()
	case t.m.reaper != nil:
		switch t.lookAtChildren() {
		case nobody:
			return true
		case somebody:
			return false
		}
	}
	for range maxWalks {
		others := false
		sure := t.walk(func(s *stat) { others = others || !t.leads(s) })
		if others || sure {
			return !others
		}
	}
	return false
}

// maxWalks is how often Empty walks while too much is going on to be sure that nobody is there.
const maxWalks = 100

func (t *Tree) emptyGroup() bool {
	if !t.group.populated() {
		return true
	}
	leads := false
	for _, pid := range t.group.processes() {
		if t.reaped || pid != t.leader.pid {
			return false
		}
		leads = true
	}
	return leads || !t.group.populated() // or the leader has ended just now
}

// finding is what a look at some processes has shown.
type finding int

const (
	nobody   finding = iota // none is a living member
	somebody                // one is
	unclear                 // only a walk can tell
)

// hasForked reports, in doubt too, whether the leader has forked already.
func (t *Tree) hasForked() bool {
	if t.m.reaper != nil {
		return t.lookAtChildren() != nobody
	}
	return t.lookAtLeader() != nobody
}

// lookAtChildren looks at the leader's children before this process's own. A child that ends
// in between has handed its own children to this process by then.
func (t *Tree) lookAtChildren() finding {
	if found := t.lookAtLeader(); found != nobody {
		return found
	}
	known := make(map[int]bool)
	for range 8 { // more often than that only what forks all the time gets here
		children, ok := ownChildren()
		if !ok {
			return unclear
		}
		ended := false
		for _, pid := range children {
			switch t.lookAt(pid) {
			case gone:
				ended = ended || !known[pid]
				known[pid] = true
			case member:
				return somebody
			case doubtful:
				return unclear
			}
		}
		if !ended {
			return nobody
		}
	}
	return unclear
}

func (t *Tree) lookAtLeader() finding {
	var s stat
	if t.reaped || !readStat(t.leader.pid, &s) || !s.living() {
		return nobody // its children are this process's now
	}
	threads := procPath(t.leader.pid, "task")
	tids := []string{strconv.Itoa(t.leader.pid)}
	if s.threads > 1 {
		tids = subgroups(threads)
	}
	for _, tid := range tids {
		children, ok := readPIDs(filepath.Join(threads, tid, "children"))
		if !ok {
			return unclear // ended, or a kernel without CONFIG_PROC_CHILDREN
		}
		for _, pid := range children {
			if readStat(pid, &s) && s.living() {
				return somebody
			}
		}
	}
	return nobody
}

// standing is what a child of this process is to a tree.
type standing int

const (
	stranger standing = iota // another tree's, or no tree's
	gone                     // ended; its children may have come here since
	member
	doubtful
)

func (t *Tree) lookAt(pid int) standing {
	if leaders.has(pid) {
		return stranger
	}
	var s stat
	if !readStat(pid, &s) || !s.living() {
		return gone
	}
	if s.session == ownSession() {
		return stranger // forked by this process; what leaves a tree is in another session
	}
	mark := getMark(pid)
	cookie := readCookie(pid)
	switch {
	case mark == t.mark, cookie == t.cookie, t.wasSeen(&s):
		return member
	case ours(mark), cookie != "":
		return stranger
	}
	return doubtful
}

// ownChildren lists the children of this process's main thread. The kernel gives orphans to the
// first thread that lives (find_new_reaper in kernel/exit.c), and in a Go program the main
// thread never ends. It reports false without CONFIG_PROC_CHILDREN.
func ownChildren() ([]int, bool) {
	pid := os.Getpid()
	return readPIDs(procPath(pid, "task/"+strconv.Itoa(pid)+"/children"))
}
