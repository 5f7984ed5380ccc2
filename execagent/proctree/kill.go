//go:build linux

package proctree

// This file ends a tree.

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// soon and late bound the time between two looks at processes that were killed and are
	// not gone yet.
	soon = 200 * time.Microsecond
	late = 20 * time.Millisecond
)

// Kill sends SIGKILL to every process of the tree, the leader included, until nothing of it is
// alive or ctx ends. It returns what is still alive then: a process that hangs in the kernel,
// or one that this user may not signal.
//
// Even when ctx has ended already, everything is killed once.
func (t *Tree) Kill(ctx context.Context) (survivors []Process) {
	if t.group != nil {
		t.group.kill()
		for wait := soon; t.group.populated(); wait = min(2*wait, late) {
			if !pause(ctx, wait) {
				break
			}
			t.group.kill() // a process may have moved in from a cgroup above
		}
	}
	// With cgroups too: a privileged process can move out of its own.
	for wait := soon; ; wait = min(2*wait, late) {
		found, unseen, sure := t.killPass()
		if found == 0 && sure {
			return nil
		}
		if unseen > 0 || found == 0 {
			wait = soon // only what was killed before is given time
		}
		if !pause(ctx, wait) {
			return t.alive()
		}
	}
}

// killPass kills what a walk finds; unseen were not there at the last one. sure says that
// nobody hid from it.
func (t *Tree) killPass() (found, unseen int, sure bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sure = t.walk(func(s *stat) {
		found++
		if !t.wasSeen(s) {
			unseen++
		}
		s.signal(unix.SIGKILL)
	})
	return found, unseen, sure
}

// alive lists every living process by a walk, whatever the method.
func (t *Tree) alive() []Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []Process
	t.walk(func(s *stat) { found = append(found, s.process()) })
	return byPID(found)
}

// pause reports whether ctx still goes on afterwards.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
