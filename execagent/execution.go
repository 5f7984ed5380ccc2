//go:build linux

package execagent

// This file is one execution: what it is, how far it has come, who watches it.

import (
	"sync"
	"time"

	"github.com/execagent/execagent/execagent/proctree"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
)

// execution is one command and its life. The agent makes it; life.go ends it.
//
//	starting ─▶ running ─▶ exited ─▶ settled
type execution struct {
	agent   *Agent
	spec    protocol.Spec
	digest  func() string // of spec; most often nobody asks
	started chan struct{} // closed when the start has succeeded or failed
	sink    streamSink    // the lossless consumer, or nil; set before the start
	settled chan struct{} // closed when result is final
	told    chan struct{} // closed when, after that, every watcher has been sent it or has left

	// Set before started is closed.
	startErr error
	begun    time.Time
	tree     *proctree.Tree
	proc     *process
	out      *output
	memory   memory
	pumps    pumps
	stdin    *stdin

	mu     sync.Mutex // guards the rest; not held across I/O
	state  protocol.State
	status status          // valid from exited on
	result protocol.Result // valid once settled
	// asked says that the command was asked to end; ending is why, unless the leader
	// had exited by then.
	asked    bool
	ending   protocol.Reason
	killed   chan struct{} // closed when SIGKILL is sent
	buried   chan struct{} // closed when that is done
	reaped   bool          // the leader's pid may be somebody else's
	timers   []*time.Timer
	watchers map[watching]struct{}
	alone    *time.Timer // ends a command that nobody follows; nil unless that is asked for
}

// watching is whoever is told of changes and sent the result: a publisher, or a consumer of
// the bytes themselves. Changed must not block.
type watching interface{ Changed(limits.Change) }

func newExecution(a *Agent, spec protocol.Spec, digest func() string) *execution {
	e := &execution{
		agent:    a,
		spec:     spec,
		digest:   digest,
		started:  make(chan struct{}),
		settled:  make(chan struct{}),
		told:     make(chan struct{}),
		killed:   make(chan struct{}),
		buried:   make(chan struct{}),
		state:    protocol.Running,
		watchers: make(map[watching]struct{}),
	}
	e.memory.e = e
	return e
}

// start runs the command. Its error is a [*protocol.Failure].
func (e *execution) start() error {
	defer close(e.started)
	if e.agent.opts.Daemon {
		e.memory.begin()
	}
	proc, err := e.startTree()
	if err != nil {
		e.memory.discard()
		e.startErr = &protocol.Failure{Code: protocol.CodeStartFailed, Message: err.Error()}
		close(e.settled)
		close(e.told)
		return e.startErr
	}
	e.begun = time.Now()
	e.proc = proc
	e.out = newOutput(e)
	e.out.sink = e.sink
	e.pumps = newPumps(proc, e.out)
	e.stdin = newStdin(proc.stdin, e.spec.Interactive)
	e.agent.log.Info("execution started", "id", e.spec.ID, "pid", proc.pid)
	if e.spec.Timeout > 0 {
		e.after(e.spec.Timeout, func() { e.end(protocol.ReasonTimeout) })
	}
	if e.spec.OnDisconnect == protocol.Kill {
		e.mu.Lock()
		e.alone = time.AfterFunc(e.spec.DisconnectGrace, e.deserted)
		e.timers = append(e.timers, e.alone)
		e.mu.Unlock()
	}
	for _, p := range e.pumps {
		e.agent.wg.Go(func() { p.run(e.agent.ctx) })
	}
	e.agent.wg.Go(e.live)
	if e.spec.Stdin == protocol.StdinBytes {
		e.agent.wg.Go(e.feed)
	}
	return nil
}

// startTree starts the command where all that comes of it can be found.
func (e *execution) startTree() (*process, error) {
	tree, err := e.agent.trees.NewTree(e.spec.ID, proctree.Limits{MemoryMax: e.spec.MemoryMax, PIDsMax: e.spec.PIDsMax})
	if err != nil {
		return nil, err
	}
	proc, err := startProcess(&e.spec, tree, &e.agent.spare)
	if err != nil {
		tree.Release()
		return nil, err
	}
	tree.Started(proc.pid)
	if e.agent.opts.Daemon {
		if err := proctree.SetOOMScore(proc.pid, e.agent.oomScore); err != nil {
			e.agent.log.Debug("resetting a command's OOM score", "id", e.spec.ID, "error", err)
		}
	}
	e.tree = tree
	return proc, nil
}

// feed gives the command the input that its spec carries.
func (e *execution) feed() {
	_ = e.stdin.write(e.agent.ctx, new(writer), 0, e.spec.StdinBytes) // a command need not read all of it
	e.stdin.close()
}

// awaitStart returns once the start by another client has come to its end.
func (e *execution) awaitStart() error {
	<-e.started
	return e.startErr
}

// watch tells p of changes from now on, until unwatch.
func (e *execution) watch(p watching) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watchers[p] = struct{}{}
	if e.alone != nil {
		e.alone.Stop()
	}
}

func (e *execution) unwatch(p watching) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.watchers, p)
	e.closeTold()
	if e.alone != nil && len(e.watchers) == 0 && e.state != protocol.Settled {
		e.alone.Reset(e.spec.DisconnectGrace)
	}
}

// deserted ends a command that is not to outlive its clients.
func (e *execution) deserted() {
	if _, watchers := e.followed(); watchers == 0 {
		e.end(protocol.ReasonCanceled)
	}
}

func (e *execution) closeTold() {
	if e.state != protocol.Settled || len(e.watchers) > 0 {
		return
	}
	select {
	case <-e.told: // before a later watcher came
	default:
		close(e.told)
	}
}

func (e *execution) changed(c limits.Change) {
	if c == limits.None {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for p := range e.watchers {
		p.Changed(c)
	}
}

// progress is what watchers are told beside the window.
type progress struct {
	state    protocol.State
	exitCode int
	signal   string
}

func (e *execution) progress() progress {
	e.mu.Lock()
	defer e.mu.Unlock()
	return progress{e.state, e.status.exitCode(), e.status.signalName()}
}
