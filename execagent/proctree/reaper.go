//go:build linux

package proctree

// This file reaps the orphans that this process adopts, and nobody else's children.

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reaper is the goroutine that reaps. The process has at most one; acquireReaper and
// releaseReaper count its users.
type reaper struct {
	users   int
	signals chan os.Signal
	stop    chan struct{}
	done    chan struct{}
	was     int32  // the subreaper attribute before
	plain   uint64 // RLIMIT_LOCKS that this process's own children get
	// adopted are children known not to be this process's own. As nobody else waits for
	// them, such a pid stays theirs while it is listed.
	adopted map[int]bool
}

var (
	theReaper   *reaper
	theReaperMu sync.Mutex // guards theReaper and its users; held while it starts and ends
)

func acquireReaper() (*reaper, error) {
	theReaperMu.Lock()
	defer theReaperMu.Unlock()
	if theReaper == nil {
		r, err := startReaper()
		if err != nil {
			return nil, err
		}
		theReaper = r
	}
	theReaper.users++
	return theReaper, nil
}

func releaseReaper() {
	theReaperMu.Lock()
	defer theReaperMu.Unlock()
	theReaper.users--
	if theReaper.users == 0 {
		theReaper.close()
		theReaper = nil
	}
}

func startReaper() (*reaper, error) {
	r := &reaper{
		signals: make(chan os.Signal, 1), // one is enough: each look reaps all
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
		was:     subreaper(),
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("proctree: becoming a subreaper: %w", err)
	}
	if os.Getpid() == 1 {
		// What another container runtime starts in this pid namespace is told apart from
		// this process's own children by not having the mark of tree 0.
		setMark(0, marksOfProcess())
	}
	r.plain = getMark(0)
	signal.Notify(r.signals, unix.SIGCHLD)
	go r.run()
	return r, nil
}

func (r *reaper) close() {
	signal.Stop(r.signals)
	close(r.stop)
	<-r.done
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, uintptr(r.was), 0, 0, 0)
}

func (r *reaper) run() {
	defer close(r.done)
	r.reap() // orphans of before
	for {
		select {
		case <-r.stop:
			r.reap()
			return
		case <-r.signals:
			r.reap()
		}
	}
}

// reap waits for every adopted child that has ended. It costs one file and, for each child
// that is not a leader, one call, or three while it is unknown.
func (r *reaper) reap() {
	children, ok := ownChildren()
	if !ok {
		children = childrenByWalk()
	}
	adopted := make(map[int]bool)
	for _, pid := range children {
		if !r.adopted[pid] && !r.isAdopted(pid) {
			continue
		}
		got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if err == nil && got == 0 {
			adopted[pid] = true
		}
	}
	r.adopted = adopted
}

// isAdopted reports whether the child is certainly not this process's own. In doubt it is
// not: a zombie too many is better than a wait status too few.
//
// An own child is in this process's session or leads one, and has this process's plain limit
// until Started, which announces leaders first, marks it.
func (r *reaper) isAdopted(pid int) bool {
	var s stat
	if !readStat(pid, &s) || s.ppid != os.Getpid() {
		return false
	}
	mark := getMark(pid)
	foreign := s.session != ownSession() && s.session != pid ||
		ours(mark) && mark != r.plain ||
		os.Getpid() == 1 && mark != 0 && mark != r.plain && ours(r.plain)
	return foreign && !leaders.has(pid) // asked last: see Started
}

func childrenByWalk() []int {
	var found []int
	for _, pid := range allPIDs() {
		var s stat
		if readStat(pid, &s) && s.ppid == os.Getpid() {
			found = append(found, pid)
		}
	}
	return found
}

// subreaper is the attribute's present value, 0 or 1.
func subreaper() int32 {
	var v int32
	// unix.Prctl takes a number, and a pointer made one before the call may go stale.
	_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&v)), 0)
	return v
}
