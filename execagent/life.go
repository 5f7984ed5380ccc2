//go:build linux

package execagent

// This file is how an execution ends: exit, the rest of the output, kill, settle.

import (
	"context"
	"runtime"
	"time"

	"github.com/execagent/execagent/execagent/proctree"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"golang.org/x/sys/unix"
)

const (
	// quiet is how long the output must be silent to count as complete, when processes
	// that outlive the leader hold it open.
	quiet = 100 * time.Millisecond
	// chatter is how long such processes may go on printing before the result no longer
	// waits for them.
	chatter = 2 * time.Second
	// backlog is more than any PTY or pipe holds, bytes: once so much was read after the
	// leader's exit, everything it wrote was read.
	backlog = 2 * pipeSize
	// burial is how long killed processes may take to disappear.
	burial = 2 * time.Second
	// glance is how often a tree that was asked to end is looked at: nothing announces that
	// its last process is gone.
	glance = 10 * time.Millisecond
)

// live is the goroutine of an execution: it waits for the exit and brings everything to its
// one result.
func (e *execution) live() {
	e.prepareNext()
	st, err := e.proc.awaitExit()
	if err != nil {
		e.agent.log.Error("waiting for a command", "id", e.spec.ID, "error", err)
	}
	e.exited(st)
	e.stdin.end()
	e.awaitTree()
	runtime.Gosched() // the same exit has woken the pumps: the end of the output goes first
	rest := e.rest()
	ended := e.drain()
	e.awaitTree() // a cancel may have come meanwhile
	e.settle(!ended, rest)
}

// prepareNext makes what the next command is likely to need, while this one begins and nobody waits
// for the agent.
func (e *execution) prepareNext() {
	e.agent.trees.Prepare()
	if !e.spec.Pipe {
		e.agent.spare.refill(&e.spec)
	}
}

// rest is what there is to a tree whose leader has ended.
type rest struct {
	alone bool // nobody is left, so nothing changes any more
	used  proctree.Usage
}

func (e *execution) rest() rest { return rest{e.tree.Empty(), e.tree.Usage()} }

// exited notes the leader's status.
func (e *execution) exited(st status) {
	e.mu.Lock()
	e.state = protocol.Exited
	e.status = st
	e.mu.Unlock()
}

// drain waits until the output is complete: end of file, or quiet while leftovers hold it
// open, or the longest they may go on. It reports whether the end of file was reached.
//
// What the leader wrote is in the kernel when it exits, so it is read once the pump has found
// nothing to read since, or has read more than the kernel can hold.
func (e *execution) drain() (ended bool) {
	exit := time.Now()
	already := e.pumps.total()
	done := e.pumps.done()
	select {
	case <-done: // as most often: the result says it all
		return true
	default:
		e.changed(limits.Shown) // that the leader has exited
	}
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return true
		case <-timer.C:
		}
		read := max(exit.UnixNano(), e.pumps.lastRead())
		silent := time.Duration(time.Now().UnixNano() - read)
		idle := e.pumps.idle()
		if idle && silent >= quiet {
			return false
		}
		complete := idle || e.pumps.total()-already > backlog
		if complete && time.Since(exit) >= chatter {
			return false
		}
		timer.Reset(max(quiet-silent, quiet/10))
	}
}

// settle makes the result final and public. open says that leftovers hold the output open, and
// rest is what there was to the tree before the last of the output.
func (e *execution) settle(open bool, rest rest) {
	e.afterKill()
	if !rest.alone {
		rest = e.rest()
	}
	used := e.status.used.of(rest.used)
	leftovers := []protocol.Process{}
	if !rest.alone {
		for _, p := range e.tree.Members() {
			leftovers = append(leftovers, protocol.Process{PID: p.PID, Command: p.Command})
		}
	}
	e.out.seal(open)
	r := protocol.Result{
		ID:         e.spec.ID,
		Leftovers:  leftovers,
		Seconds:    time.Since(e.begun).Seconds(),
		CPUSeconds: used.cpu.Seconds(),
		MaxRSSKiB:  used.maxRSS,
		OOMKilled:  used.oomKilled,
	}
	e.out.describe(&r)
	e.conclude(&r)
	e.memory.settle(r) // written down before it is told
	e.mu.Lock()
	e.result = r
	e.state = protocol.Settled
	for _, t := range e.timers {
		t.Stop()
	}
	e.timers = nil
	e.closeTold()
	e.mu.Unlock()
	e.changed(limits.Urgent)
	runtime.Gosched() // whoever has just been told goes first
	e.agent.log.Info("execution settled", "id", e.spec.ID, "reason", string(r.Reason), "exitCode", r.ExitCode, "seconds", r.Seconds, "bytes", r.Truncation.TotalBytes)
	close(e.settled)
	e.reap() // nobody waits for this or what follows
	e.agent.retain(e)
	e.tree.Release()
}

// conclude says how the command ended.
func (e *execution) conclude(r *protocol.Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.Reason = e.reason()
	if e.ending == "" && e.spec.SpillStrict && r.SpillError != nil {
		r.Reason = protocol.ReasonSpillFailed
	}
	r.ExitCode = e.status.exitCode()
	if name := e.status.signalName(); name != "" {
		r.Signal = &name
	}
}

// spillLost ends a command whose complete output had to be kept and cannot be. It is told by
// the pump, which does not wait for the end.
func (e *execution) spillLost() {
	e.agent.wg.Go(func() { e.end(protocol.ReasonSpillFailed) })
}

// cost is what a settled execution holds, in bytes.
func (e *execution) cost() int64 { return settledCost + e.result.Truncation.OutputBytes }

func (e *execution) reason() protocol.Reason {
	switch {
	case e.ending != "":
		return e.ending
	case e.status.signal != 0:
		return protocol.ReasonSignaled
	}
	return protocol.ReasonExited
}

// afterKill returns when a kill that has begun is done. None begins any more.
func (e *execution) afterKill() {
	e.mu.Lock()
	e.reaped = true
	e.mu.Unlock()
	select {
	case <-e.killed:
		<-e.buried
	default:
	}
}

// reap takes the leader out of the process table.
func (e *execution) reap() {
	e.proc.reap()
	e.tree.LeaderReaped()
}

// end asks all processes of the command to end, and kills them after the grace. The first
// reason counts, and none if the leader has already exited.
func (e *execution) end(reason protocol.Reason) {
	if e.awaitStart() != nil {
		return
	}
	e.mu.Lock()
	if e.asked || e.reaped {
		e.mu.Unlock()
		return
	}
	e.asked = true
	if e.state == protocol.Running {
		e.ending = reason
	}
	e.afterLocked(e.spec.Grace, e.kill)
	e.mu.Unlock()
	e.tree.Signal(unix.SIGTERM)
}

// kill ends whatever has not ended by itself.
func (e *execution) kill() {
	e.mu.Lock()
	if e.reaped {
		e.mu.Unlock()
		return
	}
	close(e.killed)
	e.mu.Unlock()
	defer close(e.buried)
	ctx, cancel := context.WithTimeout(context.Background(), burial)
	defer cancel()
	for _, p := range e.tree.Kill(ctx) {
		e.agent.log.Warn("a killed process is still there", "id", e.spec.ID, "pid", p.PID)
	}
}

// awaitTree waits, if the command was asked to end, until nobody but the leader is left: by
// their own doing, or by SIGKILL.
func (e *execution) awaitTree() {
	e.mu.Lock()
	asked := e.asked
	e.mu.Unlock()
	if !asked {
		return
	}
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for !e.tree.Empty() {
		select {
		case <-ticker.C:
		case <-e.buried:
			return
		}
	}
}

// stopTimers keeps a settled execution from being forgotten again.
func (e *execution) stopTimers() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.timers {
		t.Stop()
	}
	e.timers = nil
}

// after calls f later, unless the execution settles first.
func (e *execution) after(d time.Duration, f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.afterLocked(d, f)
}

func (e *execution) afterLocked(d time.Duration, f func()) {
	e.timers = append(e.timers, time.AfterFunc(d, f))
}
