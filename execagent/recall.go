//go:build linux

package execagent

// This file is what an agent knows of executions that it, or one before it, no longer holds:
// from their manifests.

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/spill"
	"github.com/execagent/execagent/transport/protocol"
)

// exitUnknown is the exit code in the result of an execution whose agent was lost, as env, nohup
// and their like have it for a failure of their own.
const exitUnknown = 125

// recall returns the execution of this ID as its manifest has it, settled, or nil.
func (a *Agent) recall(id string) *execution {
	store := a.spills.opened()
	if store == nil {
		return nil
	}
	info, err := store.Find(id)
	if err != nil {
		if !errors.Is(err, spill.ErrUnknown) {
			a.log.Debug("recalling an execution", "id", id, "error", err)
		}
		return nil
	}
	var d detail
	if info.State == spill.Running || time.Since(info.Ended) > a.opts.Retention || json.Unmarshal(info.Detail, &d) != nil {
		return nil
	}
	return a.recalled(info, &d)
}

// recalled makes a settled execution of a manifest. The agent does not hold it: it lives as long
// as whoever asked for it.
func (a *Agent) recalled(info *spill.Info, d *detail) *execution {
	spec := protocol.Spec{ID: info.ID, Interactive: d.Interactive, Stdin: d.Stdin}
	var err error
	if spec.Limits, err = d.Limits.Resolve(); err != nil { // a forgery
		spec.Limits, _ = limits.Limits{}.Resolve()
	}
	e := newExecution(a, spec, func() string { return d.Digest })
	e.result = recalledResult(info, d)
	e.begun = info.Begun
	e.state, e.asked, e.reaped = protocol.Settled, true, true
	e.status = status{code: e.result.ExitCode}
	e.proc = &process{}
	e.stdin = newStdin(nil, false)
	e.stdin.over = &protocol.Failure{Code: protocol.CodeEnded, Message: "the command has ended and takes no input"}
	e.out = recalledOutput(&spec, &e.result)
	close(e.started)
	close(e.settled)
	close(e.told)
	return e
}

// recalledResult is the result that was written down, or one that says that there is none.
func recalledResult(info *spill.Info, d *detail) protocol.Result {
	r := protocol.Result{Leftovers: []protocol.Process{}}
	if info.State == spill.Settled && d.Result != nil {
		r = *d.Result
		if info.File != "" && info.Path == "" && r.SpillError == nil {
			r.SpillError = &protocol.SpillError{Cause: string(spill.Removed), Message: "the file was removed since: it had to make room, or somebody did it"}
		}
	} else {
		r.Reason, r.ExitCode = protocol.ReasonAgentLost, exitUnknown
		r.LastSeen = info.Changed
		r.Seconds = info.Changed.Sub(info.Begun).Seconds()
		r.Truncation = limits.Truncation{TotalBytes: info.Bytes, TotalLines: info.Lines}
		r.SpillError = &protocol.SpillError{
			Cause:     protocol.CauseAgentLost,
			Message:   "the agent ended while the command ran: what it had not written by then is not in the file",
			SafeBytes: info.Size,
		}
	}
	r.ID, r.SpillPath = info.ID, info.Path
	return r
}

// recalledOutput is an output of which only the totals are known, and none of the text. The result
// agrees with it.
func recalledOutput(spec *protocol.Spec, r *protocol.Result) *output {
	o := &output{
		changed:   func(limits.Change) {},
		done:      make(chan struct{}),
		window:    limits.NewWindow(spec.Limits, terminalOf(spec)),
		taps:      make(map[rawTap]struct{}),
		spillPath: r.SpillPath,
		spillErr:  r.SpillError,
		sealed:    true,
		written:   r.Truncation.TotalBytes,
	}
	o.window.Finish()
	o.known = &limits.Truncation{ // shows nothing, as if it had no room
		Truncated:  r.Truncation.TotalBytes > 0,
		TotalLines: r.Truncation.TotalLines,
		TotalBytes: r.Truncation.TotalBytes,
		FirstLine:  r.Truncation.TotalLines + 1,
		MaxLines:   spec.Limits.MaxLines,
		MaxBytes:   spec.Limits.MaxBytes,
	}
	if by := limits.ByBytes; o.known.Truncated {
		o.known.TruncatedBy = &by
	}
	r.Truncation, r.LastLineBytes = *o.known, 0 // as in the view
	close(o.done)
	return o
}
