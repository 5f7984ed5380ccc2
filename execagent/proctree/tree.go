//go:build linux

package proctree

// This file is the Tree: the processes of one execution.

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a living process of a tree.
type Process struct {
	PID int
	// Command is its command line: at most 200 bytes of UTF-8 without control characters,
	// or its name in brackets when it has none.
	Command string
}

// Usage is what a tree has used so far.
type Usage struct {
	// CPU is user and system time of all processes, ended ones too; 0 when unknown.
	CPU time.Duration
	// PeakMemory is the most that all of them held at once, in bytes; 0 when unknown.
	PeakMemory int64
	// OOMKilled says that the kernel killed at least one of them for want of memory.
	OOMKilled bool
}

// Tree is one command, its leader, and every process that came of it. [Manager.NewTree] makes
// it; it is safe for concurrent use; its maker calls Release. Questions after Release are
// answered for as long as there are leftovers.
//
//	NewTree ─▶ Configure ─▶ fork ─▶ Started ─▶ LeaderReaped ─▶ Release
type Tree struct {
	m      *Manager
	cookie string
	mark   uint64
	group  *cgroup // nil when walking; its files belong to mu

	mu     sync.Mutex // guards the rest; held while /proc is read, not while waiting
	leader ident      // pid 0 before Started; its start is known when walking
	reaped bool       // the leader's pid may be somebody else's
	// seen is every member that a walk has met, by pid to start time, while it lives or a
	// living one's session still bears its pid.
	seen map[int]uint64
	// zombies are those that the last walk met.
	zombies map[ident]bool
}

// Configure makes attr start the command inside the tree, and returns env with the tree's
// cookie in place of any other. The caller sets attr.Setsid.
func (t *Tree) Configure(attr *syscall.SysProcAttr, env []string) []string {
	if t.group != nil {
		t.mu.Lock()
		attr.UseCgroupFD = true
		attr.CgroupFD = t.group.openDir()
		t.mu.Unlock()
	}
	with := make([]string, 0, len(env)+1)
	for _, v := range env {
		if !strings.HasPrefix(v, cookieVar+"=") {
			with = append(with, v)
		}
	}
	return append(with, cookieVar+"="+t.cookie)
}

// Started tells the tree its leader: a child of this process, leader of its own session and
// group, not waited for yet. It may have ended already. From here to LeaderReaped the reaper
// leaves the pid alone; before, it does because the child bears no mark.
//
// What the leader forks before Started has marked it is marked now, if it is found by
// session, descent or cookie.
func (t *Tree) Started(pid int) {
	leaders.add(pid) // before the mark, which makes a child look adopted
	setMark(pid, t.mark)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leader = ident{pid: pid}
	if t.group != nil {
		t.group.closeDir()
		return
	}
	var s stat
	if !readStat(pid, &s) { // somebody else has waited for it
		t.reaped = true
		leaders.remove(pid)
	}
	t.leader.start = s.start
	if t.hasForked() {
		t.markAll()
	}
}

// LeaderReaped tells the tree that the leader has been waited for: call it directly after
// that wait. The pid may become somebody else's.
func (t *Tree) LeaderReaped() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leader.pid != 0 && !t.reaped {
		t.reaped = true
		leaders.remove(t.leader.pid)
	}
}

// Members lists the living processes but the leader, in order of pid. Zombies do not live.
func (t *Tree) Members() []Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []Process
	t.each(func(s *stat) {
		if !t.leads(s) {
			found = append(found, s.process())
		}
	})
	return byPID(found)
}

func byPID(list []Process) []Process {
	slices.SortFunc(list, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
	return list
}

// each visits the living members, the leader included, by the method in use.
func (t *Tree) each(visit func(*stat)) {
	if t.group == nil {
		t.walk(visit)
		return
	}
	for _, pid := range t.group.processes() {
		var s stat
		if readStat(pid, &s) && s.living() && t.group.holds(pid) {
			visit(&s)
		}
	}
}

// leads reports whether s is the leader. Its pid is nobody else's until it is reaped.
func (t *Tree) leads(s *stat) bool { return !t.reaped && s.pid == t.leader.pid }

// wasSeen reports whether an earlier walk has met s as a member.
func (t *Tree) wasSeen(s *stat) bool {
	start, ok := t.seen[s.pid]
	return ok && start == s.start
}

// Signal sends s to every living process, the leader included. SIGTERM is followed by SIGCONT,
// so that a stopped process acts on it. A process forked meanwhile may be missed.
func (t *Tree) Signal(s unix.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.each(func(p *stat) { p.signal(s) })
}

// Usage is what the tree has used, as far as the method can tell: the walk tells nothing. It
// must be asked before Release.
func (t *Tree) Usage() Usage {
	if t.group == nil {
		return Usage{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.group.usage()
}

// Release gives up what the tree holds. Its cgroup goes once it is empty, at the release of a
// later tree or the Manager's Close. It implies LeaderReaped, and may be called twice.
func (t *Tree) Release() {
	t.LeaderReaped()
	if t.group != nil {
		t.mu.Lock()
		t.group.closeFiles()
		t.mu.Unlock()
		t.m.release(t.group)
	}
}
