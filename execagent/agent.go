//go:build linux

package execagent

// This file is the agent itself: its settings and the registry of executions.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/execagent/execagent/execagent/proctree"
	"github.com/execagent/execagent/spill"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// farewell is how long Close waits for watchers to be sent their results.
const farewell = 2 * time.Second

// defaultRetention is how long a settled execution stays answerable.
const defaultRetention = time.Hour

const (
	// maxSettled bounds what settled executions may hold of their output, in bytes: past it
	// the oldest are forgotten before their time.
	maxSettled = 16 << 20
	// settledCost is what one holds beside its text, in bytes, roughly.
	settledCost = 4 << 10
)

// Options are an agent's settings. The zero value works.
type Options struct {
	// SpillDir is the directory for the complete outputs; "" means [spill.DefaultDir]. It
	// is made, private: by a daemon that serves at once, else with the first output that needs it. An
	// agent that finds another in it uses a subdirectory.
	SpillDir string
	// Spill bounds what is in it. Its Logger is the agent's own.
	Spill spill.Options
	// Software names the program and version to clients.
	Software string
	// Logger gets what an operator should know, never output or commands. Nil discards.
	Logger *slog.Logger
	// Daemon says that this process is the agent and nothing else: it adopts and reaps the
	// orphans of its commands, as PID 1 must and a program that embeds an agent must not,
	// asks the kernel to be spared when memory runs out, and writes down in SpillDir what it
	// runs, for the agent after it.
	Daemon bool
	// Retention is how long a settled execution can still be attached to, unless newer ones
	// need the room; 0 means an hour.
	Retention time.Duration
	// KeepAlive is how often a client is asked for a sign of life; 0 means 10 seconds. One
	// that gives none for half as long again is dropped, and its watchers with it.
	KeepAlive time.Duration
	// Token is what clients have to prove to have; zero means none.
	Token transport.Token
}

// Agent runs executions and serves clients. Make one with [New]; whoever made it closes it.
type Agent struct {
	opts     Options
	instance string
	log      *slog.Logger
	ctx      context.Context // ends when Close begins
	stop     context.CancelFunc
	wg       sync.WaitGroup // executions

	mu         sync.Mutex // guards the rest; not held across I/O
	closing    bool
	executions map[string]*execution
	settled    []*execution // the oldest first
	held       int64        // bytes that those hold
	fences     fences
	forgotten  int64 // bytes that executions have written which are not in the registry

	begun    time.Time
	clients  atomic.Int64 // connections that are served
	spills   spills
	trees    *proctree.Manager
	spare    ptySpare
	oomScore int // what commands get back
}

// New returns an agent that runs nothing yet. It fails when the processes of commands could
// not be found: without a usable /proc.
func New(opts Options) (*Agent, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.SpillDir == "" {
		opts.SpillDir = spill.DefaultDir()
	}
	if opts.Retention <= 0 {
		opts.Retention = defaultRetention
	}
	opts.Spill.Logger = opts.Logger
	var id [16]byte
	rand.Read(id[:])
	a := &Agent{
		opts:       opts,
		begun:      time.Now(),
		instance:   hex.EncodeToString(id[:]),
		log:        opts.Logger,
		executions: make(map[string]*execution),
		spills:     spills{dir: opts.SpillDir, opts: opts.Spill, log: opts.Logger},
	}
	a.ctx, a.stop = context.WithCancel(context.Background())
	var err error
	if opts.Daemon {
		if a.oomScore, err = proctree.ProtectFromOOM(); err != nil {
			a.log.Warn("asking to be spared when memory runs out", "error", err)
		}
	}
	a.trees, err = proctree.New(proctree.Options{Instance: a.instance, Subreaper: opts.Daemon, Logger: a.log})
	if err != nil {
		return nil, fmt.Errorf("execagent: %w", err)
	}
	return a, nil
}

// KillMethod says how all processes of a command are found when it is ended: by "cgroup", or
// by a "walk" of /proc.
func (a *Agent) KillMethod() string { return string(a.trees.Method()) }

// Close ends all executions (SIGTERM, after their grace SIGKILL), waits until they are
// settled and their watchers told, ends all sessions and waits for them. It may be called
// more than once.
func (a *Agent) Close() error {
	a.mu.Lock()
	first := !a.closing
	a.closing = true
	all := slices.Collect(maps.Values(a.executions))
	a.mu.Unlock()
	if first {
		a.endAll(all)
		a.stop()
	}
	<-a.ctx.Done()
	a.wg.Wait()
	a.spare.close()
	return errors.Join(a.spills.close(), a.trees.Close())
}

func (a *Agent) endAll(all []*execution) {
	for _, e := range all {
		e.end(protocol.ReasonCanceled)
	}
	for _, e := range all {
		<-e.settled
	}
	patience := time.NewTimer(farewell)
	defer patience.Stop()
	for _, e := range all {
		select {
		case <-e.told:
		case <-patience.C:
			patience.Reset(0) // for the others too
		}
		e.stopTimers()
	}
}

// start runs spec, or finds the execution that the same spec already started.
func (a *Agent) start(spec protocol.Spec) (e *execution, existing bool, err error) {
	return a.startStream(spec, nil)
}

// startStream is start with a lossless consumer, which an existing execution does not get.
func (a *Agent) startStream(spec protocol.Spec, sink streamSink) (e *execution, existing bool, err error) {
	spec, err = spec.Check()
	if err != nil {
		return nil, false, &protocol.Failure{Code: protocol.CodeBadSpec, Message: err.Error()}
	}
	if e, err := a.again(&spec); e != nil || err != nil {
		return e, e != nil, err
	}
	e, existing, err = a.reserve(spec)
	if err != nil {
		return nil, false, err
	}
	if existing {
		return e, true, e.awaitStart()
	}
	e.sink = sink
	if err := e.start(); err != nil {
		a.forget(e)
		return nil, false, err
	}
	return e, false, nil
}

// reserve enters an execution for spec under its ID, or finds the one that has it.
func (a *Agent) reserve(spec protocol.Spec) (e *execution, existing bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closing {
		return nil, false, &protocol.Failure{Code: protocol.CodeClosing, Message: "the agent is shutting down; start the command on another one"}
	}
	if e := a.executions[spec.ID]; e != nil {
		if e.digest() != spec.Digest() {
			return nil, false, idInUse(spec.ID)
		}
		return e, true, nil
	}
	if a.fences.has(spec.ID, a.opts.Retention) {
		return nil, false, &protocol.Failure{Code: protocol.CodeCanceled, Message: fmt.Sprintf("execution %q was canceled before its start came", spec.ID)}
	}
	e = newExecution(a, spec, sync.OnceValue(spec.Digest))
	a.executions[spec.ID] = e
	return e, false, nil
}

// fence refuses a start of this ID that is still to come, unless there is an execution of it.
func (a *Agent) fence(id string) (e *execution, err error) {
	if err := protocol.CheckID(id); err != nil {
		return nil, refuse(protocol.CodeBadRequest, "%v", err)
	}
	a.mu.Lock()
	e = a.executions[id]
	if e == nil {
		a.fences.add(id, a.opts.Retention)
	}
	a.mu.Unlock()
	if e == nil {
		return nil, nil
	}
	return e, e.awaitStart()
}

func idInUse(id string) error {
	return refuse(protocol.CodeIDInUse, "id %q belongs to another command on this agent: choose another id, or attach to it", id)
}

// again returns the execution that spec started on an agent before this one, or nil: a client
// that starts it once more, because it lost the connection, must not have it run twice.
func (a *Agent) again(spec *protocol.Spec) (*execution, error) {
	a.mu.Lock()
	e := a.executions[spec.ID]
	a.mu.Unlock()
	if e != nil {
		return nil, nil
	}
	if e = a.recall(spec.ID); e != nil && e.digest() != spec.Digest() {
		return nil, idInUse(spec.ID)
	}
	return e, nil
}

// find returns the execution of this ID, as far as it is known.
func (a *Agent) find(id string) (*execution, error) {
	a.mu.Lock()
	e := a.executions[id]
	a.mu.Unlock()
	if e == nil {
		e = a.recall(id)
	}
	if e == nil {
		return nil, &protocol.Failure{
			Code:    protocol.CodeUnknownID,
			Message: fmt.Sprintf("no execution %.140q on this agent: it never started here, or settled more than %v ago", id, a.opts.Retention),
		}
	}
	return e, e.awaitStart()
}

// retain keeps a settled execution answerable, and forgets the oldest when they hold too much.
func (a *Agent) retain(e *execution) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled = append(a.settled, e)
	a.held += e.cost()
	e.after(a.opts.Retention, func() { a.expire(e) })
	for a.held > maxSettled {
		a.forgetOldest()
	}
}

// expire forgets a settled execution whose time is over, and those that are older.
func (a *Agent) expire(e *execution) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for slices.Contains(a.settled, e) {
		a.forgetOldest()
	}
}

func (a *Agent) forgetOldest() {
	e := a.settled[0]
	a.settled[0] = nil
	a.settled = a.settled[1:]
	a.held -= e.cost()
	a.forgotten += e.pumps.total()
	delete(a.executions, e.spec.ID)
	e.stopTimers()
}

// forget removes an execution whose start failed.
func (a *Agent) forget(e *execution) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.executions, e.spec.ID)
}
