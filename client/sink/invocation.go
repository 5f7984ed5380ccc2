package sink

// This file is a call while it runs, as its tool sees it: who it is, and what it remembers.

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/execagent/execagent/client/lane"
)

// Invocation is a call that runs. The runner makes it. Its methods are for its tool; those that
// take part of the output's state, SetMemo and Once, look at the details and so belong to the
// goroutine that [ToolOutput.Details] speaks of, the others are safe for concurrent use.
type Invocation struct {
	runner *Runner
	call   Call
	tool   string
	ctx    context.Context
	cancel context.CancelCauseFunc
	asking chan struct{} // holds one while a decision is waited for
	out    *publication  // nil until there is an output
	over   bool          // its end was told; guarded by the runner's emitting

	mu    sync.Mutex // guards the rest
	steps int
	memos map[string][]byte
}

// Call returns what was asked for.
func (inv *Invocation) Call() Call { return inv.call }

// Args reads the call's arguments into v, as encoding/json does. Fields that v lacks are
// ignored: what a model gives may say more.
func (inv *Invocation) Args(v any) error {
	args := inv.call.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if err := json.Unmarshal(args, v); err != nil {
		return fmt.Errorf("arguments of %s: %w", inv.tool, err)
	}
	return nil
}

// Step tells of a step that begins, such as a command of a subagent, and returns the function
// that tells of its end: with an error it failed. A step is for people to see; it is not part of
// the output, and is told at once, without a pace. Titles are cut at [lane.MaxTitleBytes].
func (inv *Invocation) Step(title string) (end func(error)) {
	inv.mu.Lock()
	inv.steps++
	id := strconv.Itoa(inv.steps)
	inv.mu.Unlock()
	tell := func(status lane.StepStatus) {
		inv.runner.emit(inv, &lane.ToolStep{About: inv.about(), Step: id, Title: title, Status: status})
	}
	tell(lane.StepRunning)
	var once sync.Once
	return func(err error) {
		once.Do(func() {
			if err != nil {
				tell(lane.StepFailed)
			} else {
				tell(lane.StepDone)
			}
		})
	}
}

// Memo reads a memo that the call has set, before a crash or since, into v, unless v is nil. It
// reports whether there is one.
func (inv *Invocation) Memo(name string, v any) (bool, error) {
	inv.mu.Lock()
	raw, ok := inv.memos[name]
	inv.mu.Unlock()
	if !ok || v == nil {
		return ok, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return true, fmt.Errorf("sink: reading memo %.100q: %w", name, err)
	}
	return true, nil
}

// SetMemo notes that some work is done, with any value that encoding/json can marshal; nil takes
// the note back. The memo and the output as it is now are durable together when SetMemo returns,
// and after a crash before that neither is. So a tool does the work, writes what it has to say of
// it, and then sets the memo.
func (inv *Invocation) SetMemo(name string, v any) error { return inv.setMemo(name, v, false) }

func (inv *Invocation) setMemo(name string, v any, ends bool) error {
	var raw []byte
	if v != nil {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return fmt.Errorf("sink: encoding memo %.100q: %w", name, err)
		}
	}
	if err := inv.out.memo(name, raw, ends); err != nil {
		return fmt.Errorf("sink: setting memo %.100q: %w", name, err)
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if raw == nil {
		delete(inv.memos, name)
	} else {
		inv.memos[name] = raw
	}
	return nil
}

// Once does the work unless the memo of that name is set, and then sets it to true. Until then
// nothing of the call's output becomes durable, so that after a crash the work and its output
// are there once, or not at all. Consumers see the output as it comes. When the work fails no
// memo is set, and the error is returned. Within the work no other memo can be set: that is
// [ErrWithinOnce].
func (inv *Invocation) Once(name string, work func() error) error {
	if done, err := inv.Memo(name, nil); done || err != nil {
		return err
	}
	if err := inv.out.hold(); err != nil {
		return err
	}
	defer inv.out.release()
	if err := work(); err != nil {
		return err
	}
	return inv.setMemo(name, true, true)
}
