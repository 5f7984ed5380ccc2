package sink

// This file is the life of a call: begun, permitted, run, ended. And its second life after a crash.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/limits"
)

// run is a call that runs, from the beginning or, with a record, on what it had before a crash.
func (inv *Invocation) run(tool Tool, record *journal.Record) (*Outcome, error) {
	seed, err := inv.remember(record)
	if err != nil {
		return nil, err
	}
	output, execute, err := tool.prepare(tool.options, seed)
	switch {
	case err != nil && record != nil:
		return inv.recover(record) // the tool has other details now, and cannot go on
	case err != nil:
		return nil, err
	}
	inv.open(output)
	inv.out.begun = record != nil
	inv.start()
	err = inv.prepare(tool, record == nil)
	if err == nil {
		err = inv.perform(execute)
	}
	return inv.end(err)
}

// remember takes the memos and the output of an earlier run.
func (inv *Invocation) remember(record *journal.Record) (*lane.State, error) {
	if record == nil {
		return nil, nil
	}
	for name, value := range record.Memos {
		inv.memos[name] = json.RawMessage(value)
	}
	if record.Document == nil {
		return nil, nil
	}
	return lane.ReadState(record.Document)
}

// open gives the call an output.
func (inv *Invocation) open(o *Output) {
	inv.out = newPublication(o, inv.runner.options.Journal, journal.Key(inv.call.CallID), func(ops []chord.Op) {
		inv.runner.emit(inv, &lane.ToolUpdate{About: inv.about(), Ops: ops})
	})
}

// start tells of the call, and gives its consumers their base.
func (inv *Invocation) start() {
	inv.runner.emit(inv, &lane.ToolStart{About: inv.about(), Parent: inv.call.Parent, Tool: inv.tool, Args: inv.call.Args})
	inv.out.flush()
}

// prepare does what has to be done before the tool may run.
func (inv *Invocation) prepare(tool Tool, first bool) error {
	if first {
		if err := inv.permit(); err != nil {
			return err
		}
		if err := inv.note(tool.options.ReplaySafe); err != nil {
			return err
		}
	}
	if inv.ctx.Err() != nil {
		return context.Cause(inv.ctx)
	}
	return nil
}

// note has the journal know of the call.
func (inv *Invocation) note(replaySafe bool) error {
	return inv.out.begin(journal.Header{
		Parent: inv.call.Parent, Tool: inv.tool, Args: inv.call.Args, ReplaySafe: replaySafe, Started: time.Now(),
	})
}

// perform runs the tool, and publishes what it does meanwhile.
func (inv *Invocation) perform(execute execute) error {
	inv.out.flush() // for the journal, which has none of it yet
	ctx, stop := context.WithCancel(context.Background())
	var publishing sync.WaitGroup
	publishing.Go(func() { inv.out.run(ctx) })
	err := execute.contain(inv.ctx, inv)
	stop()
	publishing.Wait()
	return err
}

// end settles a call in this process: err is why it failed.
func (inv *Invocation) end(err error) (*Outcome, error) {
	if bad := inv.out.output.Changed(); err == nil {
		err = bad
	}
	inv.close()
	inv.out.output.finish(cut(inv.explain(err), maxErrorBytes))
	noted := inv.note(false) // a call that was never permitted has ended too
	o := &Outcome{IsError: err != nil, Err: err}
	return o, errors.Join(noted, inv.settle(o))
}

// close ends what the tool may have left running: its context, and what it waits for.
func (inv *Invocation) close() {
	inv.cancel(nil)
	inv.asking <- struct{}{} // and nobody asks any more
}

// settle publishes the last of the output and tells of the end.
func (inv *Invocation) settle(o *Outcome) error {
	err := inv.out.end(journal.End{IsError: o.IsError, Ended: time.Now()})
	if err != nil {
		err = fmt.Errorf("sink: noting the end of %.100q: %w", inv.call.ID, err)
	}
	inv.runner.emit(inv, &lane.ToolEnd{About: inv.about(), IsError: o.IsError})
	state, stateErr := inv.out.output.State()
	o.State = state
	return errors.Join(err, stateErr)
}

// explain is what the model reads of an error.
func (inv *Invocation) explain(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return "The call ran out of time."
	case errors.Is(err, ErrCanceled) || errors.Is(err, context.Canceled):
		return "The call was canceled."
	}
	return err.Error()
}

// interruptionMark is put after the output of a call that a crash has ended.
const interruptionMark = "[Interrupted: the program that ran this call stopped. What it had written is above; what it did since is unknown.]"

// recover ends a call that a crash interrupted, or tells again one that had ended.
func (inv *Invocation) recover(record *journal.Record) (*Outcome, error) {
	h := &record.Header
	inv.tool, inv.call.Args, inv.call.Parent = h.Tool, h.Args, h.Parent
	seed, err := inv.remember(record)
	if err != nil {
		return nil, err
	}
	output, err := newOutput(limits.Limits{}, seed)
	if err != nil {
		return nil, err
	}
	inv.open(output)
	inv.out.begun = record.End == nil
	inv.start()
	o := &Outcome{IsError: true, Interrupted: true}
	if record.End != nil {
		o.IsError, o.Interrupted = record.End.IsError, false
	} else {
		output.finish(interruptionMark)
	}
	return o, inv.settle(o)
}

// cut shortens s to at most most bytes, on a character boundary.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
