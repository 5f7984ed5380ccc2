package lane

// This file is the fold: a view and an event in, the same view out.

import "github.com/execagent/execagent/chord"

// Reduce brings v up to date with e. It never fails: an event that does not fit changes nothing,
// or makes the output of its call stale until a base batch.
func Reduce(v *View, e Event) {
	if start, ok := e.(*ToolStart); ok {
		v.start(start)
		return
	}
	c := v.Call(e.Of())
	if c == nil || c.Ended {
		return
	}
	switch e := e.(type) {
	case *ToolUpdate:
		c.update(e.Ops)
	case *ToolStep:
		c.Activity.step(e.Step, e.Title, e.Status, e.At)
	case *ApprovalRequested:
		c.ask(e)
	case *ApprovalResolved:
		c.resolve(e)
	case *ToolEnd:
		v.end(c, e)
	}
}

// start adds a call, or begins one again that goes on after a crash.
func (v *View) start(e *ToolStart) {
	begun := Call{
		CallID: e.CallID, Parent: e.Parent, Tool: e.Tool, Args: e.Args,
		Activity: Activity{Status: Running, StartedAt: e.At},
	}
	c := v.Call(e.CallID)
	if c != nil {
		*c = begun
	} else {
		c = &begun
		v.Calls = append(v.Calls, c)
	}
	if p := v.parent(c); p != nil && !p.Ended {
		p.Activity.step(childStep(c), c.Tool, StepRunning, e.At)
	}
}

// childStep is the ID of the step that a call is in the call it was made for. A tool's own
// steps have IDs without a space.
func childStep(c *Call) string { return "call " + c.Turn + " " + c.ID }

func (c *Call) update(ops []chord.Op) {
	if c.Stale && !chord.IsBase(ops) || c.Output == nil && !chord.IsBase(ops) {
		return
	}
	output, err := chord.ApplyImmutable(c.Output, ops)
	if err != nil {
		c.Stale = true
		return
	}
	c.Output, c.Stale = output, false
	root, _ := output.(map[string]any)
	source, _ := root["source"].(map[string]any)
	c.Activity.ExecutionID, _ = source["executionId"].(string)
	c.Activity.SpillPath, _ = source["spillPath"].(string)
}

func (c *Call) ask(e *ApprovalRequested) {
	c.Activity.Status = Waiting
	c.Activity.Approval = &Approval{
		CallID: c.CallID, Parent: c.Parent, ID: e.Approval, Since: e.At,
		Title: cut(e.Title, MaxTitleBytes), Detail: cut(e.Detail, MaxDetailBytes),
	}
}

func (c *Call) resolve(e *ApprovalResolved) {
	if a := c.Activity.Approval; a != nil && a.ID == e.Approval {
		c.Activity.Status, c.Activity.Approval = Running, nil
	}
}

func (v *View) end(c *Call, e *ToolEnd) {
	c.Ended, c.IsError = true, e.IsError
	c.Activity.end(e.IsError, e.At)
	if p := v.parent(c); p != nil && !p.Ended {
		status := StepDone
		if e.IsError {
			status = StepFailed
		}
		p.Activity.step(childStep(c), c.Tool, status, e.At)
	}
	v.dropEnded()
}
