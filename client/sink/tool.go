package sink

// This file is what a harness runs: a tool, and one call of it.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/limits"
)

// Tool is a tool of any type of details. Make one with [Define]. It is a value, safe for
// concurrent use if its function is.
type Tool struct {
	name    string
	options ToolOptions
	prepare func(o ToolOptions, seed *lane.State) (*Output, execute, error)
}

// execute runs a tool into the output that was prepared for it.
type execute func(ctx context.Context, inv *Invocation) error

// ToolOptions are what a tool declares of itself. The zero value works.
type ToolOptions struct {
	// Limits bound the text of its outputs. The zero value keeps the last 50 KiB and 2000 lines.
	Limits limits.Limits
	// ReplaySafe says that a call may be run again after a crash of the harness, with the
	// output that it had and the memos that it set.
	ReplaySafe bool
}

// Define makes a tool that runs f for each call. Everything f produces goes into out; what it
// returns is only whether it failed, and then out keeps what was written and the error's text
// is put after it. When ctx ends, f is to return soon. A panic in f is an error of the call, one
// in a goroutine that f starts is not caught.
//
// D is the tool's own type of details.
func Define[D any](name string, o ToolOptions, f func(ctx context.Context, inv *Invocation, out *ToolOutput[D]) error) Tool {
	return Tool{name, o, func(o ToolOptions, seed *lane.State) (*Output, execute, error) {
		out, err := newToolOutput[D](o.Limits, seed)
		if err != nil {
			return nil, nil, err
		}
		return out.Output, func(ctx context.Context, inv *Invocation) error { return f(ctx, inv, out) }, nil
	}}
}

// Name returns the tool's name.
func (t Tool) Name() string { return t.name }

// PanicError is a panic in a tool.
type PanicError struct {
	Value any    // what the tool panicked with
	Stack []byte // where, for the harness's log
}

func (e *PanicError) Error() string { return fmt.Sprintf("the tool panicked: %v", e.Value) }

// errGone is the error of a tool whose goroutine ended without returning.
var errGone = errors.New("the tool ended its goroutine")

// contain runs the tool on a goroutine of its own, so that neither its panic nor its Goexit is
// the caller's, and waits for it.
func (run execute) contain(ctx context.Context, inv *Invocation) error {
	outcome := make(chan error, 1)
	go func() {
		err := errGone
		defer func() {
			if p := recover(); p != nil {
				err = &PanicError{p, debug.Stack()}
			}
			outcome <- err
		}()
		err = run(ctx, inv)
	}()
	return <-outcome
}

// Call is one request of the model to run a tool.
type Call struct {
	lane.CallID
	// Parent is the ID, in the same run, of the call that this one is made for; "" for none.
	Parent string
	// Args are what the model gave.
	Args json.RawMessage
}

func (c *Call) check(t *Tool) error {
	switch {
	case t.prepare == nil || t.name == "":
		return errors.New("sink: running a tool without a name or a function: make it with Define")
	case c.Run == "" || c.ID == "":
		return fmt.Errorf("sink: running %q: a call needs a run and an ID", t.name)
	case len(c.Args) > 0 && !json.Valid(c.Args):
		return fmt.Errorf("sink: running %q: the arguments are not JSON: %.100q", t.name, c.Args)
	}
	return nil
}
