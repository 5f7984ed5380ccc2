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
	// cleanPasses in a row must find nothing. One is not enough: a process that forks while
	// /proc is being read can hide its child behind the reader and itself end before it is
	// read.
	cleanPasses = 2
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
	wait := soon
	for clean := 0; clean < cleanPasses; {
		found, unseen := t.killPass()
		switch {
		case found == 0:
			clean++
			continue
		case unseen > 0:
			wait = soon
		}
		clean = 0
		if !pause(ctx, wait) {
			return t.alive()
		}
		wait = min(2*wait, late)
	}
	return nil
}

// killPass kills what a walk finds; unseen were not there at the last one.
func (t *Tree) killPass() (found, unseen int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.walk(func(s *stat) {
		found++
		if !t.wasSeen(s) {
			unseen++
		}
		s.signal(unix.SIGKILL)
	})
	return found, unseen
}

// alive lists every living process by a walk, whatever the method.
func (t *Tree) alive() []Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []Process
	t.walk(func(s *stat) { found = append(found, Process{s.pid, commandLine(s)}) })
	return found
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
