package sink

// This file is a lane of tool calls: what runs, and who is told.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/client/lane"
)

// Options are the settings of a [Runner].
type Options struct {
	// Emit is told everything that happens, one event at a time and in order. Output waits
	// for it, so it should be quick; it may call Approve, Deny and Cancel, but not Run.
	Emit func(lane.Event)
	// Journal keeps what a crash must not lose. Nil keeps nothing.
	Journal journal.Journal
	// Policy says whether a call may run. Nil asks for every one.
	Policy func(tool string, call Call) Verdict
}

// Verdict is what a policy says of a call.
type Verdict int

const (
	// Ask has a person decide. It is the default.
	Ask Verdict = iota
	// Allow runs the call.
	Allow
	// Refuse fails it without asking.
	Refuse
)

// Runner runs tools and emits what happens. Make one with [NewRunner]. It is safe for concurrent
// use. There is nothing to close: its goroutines are those of Run, which waits for them.
type Runner struct {
	options Options

	emitting sync.Mutex // held while Emit runs; guards Invocation.over

	mu        sync.Mutex // guards the rest; not held while anything waits
	calls     map[lane.CallID]*Invocation
	approvals map[string]*approval
}

// NewRunner returns a runner of which nothing runs yet.
func NewRunner(o Options) *Runner {
	if o.Emit == nil {
		o.Emit = func(lane.Event) {}
	}
	return &Runner{options: o, calls: make(map[lane.CallID]*Invocation), approvals: make(map[string]*approval)}
}

// Outcome is how a call ended.
type Outcome struct {
	// State is the output, for the model.
	State *lane.State
	// IsError says that the call failed. The text says why.
	IsError bool
	// Err is the error of a call that failed in this process: what the tool returned, a
	// [*PanicError], a [*BoundError], a [*DeniedError].
	Err error
	// Interrupted says that a crash ended the call.
	Interrupted bool
}

var (
	// ErrRunning is returned for a call that runs already.
	ErrRunning = errors.New("sink: the call is running")
	// ErrNotRunning is returned by Cancel for a call that does not run.
	ErrNotRunning = errors.New("sink: no such call is running")
	// ErrCanceled is the cause of a context that ended because of Cancel.
	ErrCanceled = errors.New("canceled")
)

// Run runs a call of a tool to its end. Whatever the tool does is in the outcome; an error of
// Run is about the call's arguments or the journal. With both, the call has ended but the
// journal may not know.
//
// A call that the journal knows goes on where a crash has left it: one that had ended is told
// again, one whose tool is replay-safe is run again on the output that it had, without asking
// again for a permission that was given, and any other ends as in [Runner.Recover].
func (r *Runner) Run(ctx context.Context, tool Tool, call Call) (*Outcome, error) {
	if err := call.check(&tool); err != nil {
		return nil, err
	}
	inv, err := r.enter(ctx, call)
	if err != nil {
		return nil, err
	}
	defer r.leave(inv)
	inv.tool = tool.name
	record, err := r.recall(call.CallID)
	switch {
	case errors.Is(err, journal.ErrUnknown):
		return inv.run(tool, nil)
	case err != nil:
		return nil, err
	case record.End == nil && record.Header.ReplaySafe && tool.options.ReplaySafe:
		return inv.run(tool, record)
	}
	return inv.recover(record)
}

// Recover ends a call that a crash interrupted, with the output that was durable and a mark that
// says so, or tells again one that had ended. It runs no tool, and needs none. A call that the
// journal does not know is [journal.ErrUnknown].
func (r *Runner) Recover(id lane.CallID) (*Outcome, error) {
	inv, err := r.enter(context.Background(), Call{CallID: id})
	if err != nil {
		return nil, err
	}
	defer r.leave(inv)
	record, err := r.recall(id)
	if err != nil {
		return nil, err
	}
	return inv.recover(record)
}

// Cancel ends the context of a call: a call that waits for a decision ends without one, a tool that
// runs is to return. It does not wait for that. [ErrNotRunning] is returned when there is no such call.
func (r *Runner) Cancel(id lane.CallID) error {
	r.mu.Lock()
	inv := r.calls[id]
	r.mu.Unlock()
	if inv == nil {
		return fmt.Errorf("%w: %.100q of run %.100q", ErrNotRunning, id.ID, id.Run)
	}
	inv.cancel(ErrCanceled)
	return nil
}

func (r *Runner) enter(ctx context.Context, call Call) (*Invocation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls[call.CallID] != nil {
		return nil, fmt.Errorf("%w: %.100q of run %.100q", ErrRunning, call.ID, call.Run)
	}
	inv := &Invocation{runner: r, call: call, asking: make(chan struct{}, 1), memos: make(map[string][]byte)}
	inv.ctx, inv.cancel = context.WithCancelCause(ctx)
	r.calls[call.CallID] = inv
	return inv, nil
}

func (r *Runner) leave(inv *Invocation) {
	inv.cancel(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, inv.call.CallID)
}

// recall asks the journal for a call.
func (r *Runner) recall(id lane.CallID) (*journal.Record, error) {
	if r.options.Journal == nil {
		return nil, journal.ErrUnknown
	}
	record, err := r.options.Journal.Recover(journal.Key(id))
	if err != nil {
		return nil, fmt.Errorf("sink: looking for %.100q in the journal: %w", id.ID, err)
	}
	return record, nil
}

// emit tells of something, unless its call has ended.
func (r *Runner) emit(inv *Invocation, e lane.Event) {
	r.emitting.Lock()
	defer r.emitting.Unlock()
	if inv.over {
		return
	}
	_, inv.over = e.(*lane.ToolEnd)
	r.options.Emit(e)
}

// about is what all events of a call begin with.
func (inv *Invocation) about() lane.About {
	return lane.About{CallID: inv.call.CallID, At: time.Now().UnixMilli()}
}
