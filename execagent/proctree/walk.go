//go:build linux

package proctree

// This file finds the members of a tree in all of /proc.

import (
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// walk is one pass over /proc, with what it has found so far.
type walk struct {
	tree       *Tree
	visit      func(*stat)
	ownPID     int
	ownSession int
	table      map[int]*stat // living processes that may be members
	members    map[int]bool  // by pid
	sessions   map[int]bool  // that members are in
}

// walk visits each living member once, the leader included. What bears a sign of its own is
// visited as soon as it is read: of processes that fork and end all the time, that catches
// most. Relations to other members are looked at when all have been read.
func (t *Tree) walk(visit func(*stat)) {
	w := walk{
		tree: t, visit: visit, ownPID: os.Getpid(), ownSession: ownSession(),
		table:    make(map[int]*stat),
		members:  make(map[int]bool),
		sessions: make(map[int]bool),
	}
	var rest []*stat
	for _, pid := range allPIDs() {
		s := new(stat)
		if pid == w.ownPID || !readStat(pid, s) || !s.living() || s.start < t.leader.start {
			continue // every member is younger than the leader
		}
		w.table[pid] = s
		if t.signed(s) {
			w.add(s)
		} else {
			rest = append(rest, s)
		}
	}
	for found := true; found; {
		found = false
		rest = slices.DeleteFunc(rest, func(s *stat) bool {
			related := w.related(s)
			if related {
				w.add(s)
				found = true
			}
			return related
		})
	}
	w.remember()
}

// signed reports whether the process is known to be a member without looking at others.
func (t *Tree) signed(s *stat) bool {
	if t.leads(s) || t.wasSeen(s) {
		return true
	}
	if t.leader.pid != 0 && !t.reaped && s.session == t.leader.pid {
		return true // nobody else's, as long as the leader holds the number
	}
	return getMark(s.pid) == t.mark || readCookie(s.pid) == t.cookie
}

// related reports whether the process belongs to members: nobody joins a session from
// outside, so one with a member in it is the tree's.
func (w *walk) related(s *stat) bool {
	if s.session == w.ownSession {
		return w.members[s.ppid] && w.stillHas(s.ppid)
	}
	return w.sessions[s.session] || w.endedLeader(s) || w.members[s.ppid] && w.stillHas(s.ppid)
}

// endedLeader reports whether a member that was seen once, and has ended, began s's session.
func (w *walk) endedLeader(s *stat) bool {
	start, ok := w.tree.seen[s.session]
	return ok && start <= s.start && w.table[s.session] == nil
}

// stillHas reports that the member's pid was not given to somebody else before its child was
// read.
func (w *walk) stillHas(pid int) bool {
	var now stat
	return !readStat(pid, &now) || now.ident == w.table[pid].ident
}

func (w *walk) add(s *stat) {
	w.members[s.pid] = true
	if s.session != w.ownSession && s.session != 0 { // 0: began outside this pid namespace
		w.sessions[s.session] = true
	}
	w.visit(s)
}

// remember keeps the members, and of former ones those whose session goes on.
func (w *walk) remember() {
	seen := w.tree.seen
	for pid := range seen {
		if !w.members[pid] && !w.sessions[pid] {
			delete(seen, pid)
		}
	}
	for pid := range w.members {
		seen[pid] = w.table[pid].start
	}
}

// ownSession is 0 when it began outside this pid namespace, as stat says it too.
func ownSession() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return sid
}

// allPIDs lists the numbers in /proc, in ascending order as the kernel gives them.
func allPIDs() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read before an error counts
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
