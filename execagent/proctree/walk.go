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
	table      map[int]*stat  // living processes that may be members
	members    map[int]bool   // by pid
	sessions   map[int]bool   // that members are in
	rest       []*stat        // without a sign of their own
	zombies    map[ident]bool // that may have been members
	sure       bool
}

// walk visits each living member once, the leader included. What bears a sign of its own is
// visited as soon as it is read: of processes that fork and end all the time, that catches
// most. Relations to other members are looked at when all have been read.
//
// It reports whether a walk that found nobody proves that nobody was there. A process that was
// listed and had ended when it was read may have forked in between, and the child's pid have
// been listed no more: then it does not. (A pid that is smaller than the parent's, after
// pid_max was reached, could still hide.)
func (t *Tree) walk(visit func(*stat)) (sure bool) {
	w := walk{
		tree: t, visit: visit, ownPID: os.Getpid(), ownSession: ownSession(), sure: true,
		table:    make(map[int]*stat),
		members:  make(map[int]bool),
		sessions: make(map[int]bool),
		zombies:  make(map[ident]bool),
	}
	if s := new(stat); !t.reaped && readStat(t.leader.pid, s) && !s.living() {
		t.zombies[s.ident] = true // ended before this walk begins
	}
	if !eachPID(w.read) {
		w.sure = false
	}
	for found := true; found; {
		found = false
		w.rest = slices.DeleteFunc(w.rest, func(s *stat) bool {
			related := w.related(s)
			if related {
				w.add(s)
				found = true
			}
			return related
		})
	}
	w.remember()
	return w.sure
}

// read looks at one process.
func (w *walk) read(pid int) {
	s := new(stat)
	switch {
	case pid == w.ownPID:
	case !readStat(pid, s):
		w.sure = false
	case s.start < w.tree.leader.start: // every member is younger
	case !s.living():
		w.zombies[s.ident] = true
		if !w.tree.zombies[s.ident] {
			w.sure = false
		}
	case w.tree.signed(s):
		w.table[pid] = s
		w.add(s)
	default:
		w.table[pid] = s
		w.rest = append(w.rest, s)
		// One that ended before its signs were read had none to show.
		if now := new(stat); !readStat(pid, now) || !now.living() {
			w.sure = false
		}
	}
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
	w.tree.zombies = w.zombies
}

// ownSession is 0 when it began outside this pid namespace, as stat says it too.
func ownSession() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return sid
}

// eachPID visits the numbers in /proc in ascending order, as the kernel gives them. They are
// asked for in small portions, so that few processes end between being listed and being read.
// It reports whether it came to the end.
func eachPID(visit func(pid int)) bool {
	fd, err := unix.Open("/proc", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var buf [512]byte
	var names []string
	for {
		n, err := unix.ReadDirent(fd, buf[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return err == nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			if pid, err := strconv.Atoi(name); err == nil {
				visit(pid)
			}
		}
	}
}
