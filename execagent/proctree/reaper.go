//go:build linux

package proctree

// This file reaps the orphans that this process adopts, and nobody else's children.

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"
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
	was     int32         // the subreaper attribute before
	grace   time.Duration // for zombies that may be this process's own
	// adopted are children known not to be this process's own. As nobody else waits for
	// them, such a pid stays theirs while it is listed.
	adopted map[int]bool
	// doubtful are zombies of which it is not known, with the time they were first seen.
	doubtful map[ident]time.Time
}

// grace is how long a zombie that leads its session and has no mark is left alone. It may be a
// child of this process's own that somebody has yet to wait for; or an orphan that its leader
// forked before it was marked, or that came into this pid namespace from outside. Who is in a
// wait has the status at once. A variable for tests.
var grace = 10 * time.Second

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
		grace:   grace,
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("proctree: becoming a subreaper: %w", err)
	}
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
	again := time.NewTimer(r.grace)
	defer again.Stop()
	for {
		select {
		case <-r.stop:
			r.reap()
			return
		case <-r.signals:
		case <-again.C:
		}
		r.reap()
		if len(r.doubtful) > 0 {
			again.Reset(r.grace)
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
	adopted, doubtful := make(map[int]bool), make(map[ident]time.Time)
	for _, pid := range children {
		if !r.adopted[pid] && !r.isAdopted(pid, doubtful) {
			continue
		}
		got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if err == nil && got == 0 {
			adopted[pid] = true
		}
	}
	r.adopted, r.doubtful = adopted, doubtful
}

// isAdopted decides whether a child is not this process's own. Its own are in this process's
// session or lead one, and have no mark until Started, which announces leaders first.
func (r *reaper) isAdopted(pid int, doubtful map[ident]time.Time) bool {
	var s stat
	if !readStat(pid, &s) || s.ppid != os.Getpid() {
		return false
	}
	certain := s.session != ownSession() && s.session != pid || ours(getMark(pid))
	if leaders.has(pid) { // asked after the mark: see Started
		return false
	}
	if certain || s.living() || s.session == ownSession() {
		return certain
	}
	since, ok := r.doubtful[s.ident]
	if !ok {
		since = time.Now()
	}
	doubtful[s.ident] = since
	return time.Since(since) >= r.grace
}

// childrenByWalk is for kernels without CONFIG_PROC_CHILDREN.
func childrenByWalk() (found []int) {
	eachPID(func(pid int) {
		var s stat
		if readStat(pid, &s) && s.ppid == os.Getpid() {
			found = append(found, pid)
		}
	})
	return found
}

// subreaper is the attribute's present value, 0 or 1.
func subreaper() int32 {
	var v int32
	// unix.Prctl takes a number, and a pointer made one before the call may go stale.
	_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&v)), 0)
	return v
}
