package lane

// This file is the vocabulary: everything that can happen to a tool call.

import (
	"encoding/json"

	"github.com/execagent/execagent/chord"
)

// CallID names one tool call. All three parts together are its identity.
type CallID struct {
	Run  string `json:"runId"`      // what the harness does for one request
	Turn string `json:"turnId"`     // the model's answer that asked for the call
	ID   string `json:"toolCallId"` // the call within it
}

// Event is one of [*ToolStart], [*ToolUpdate], [*ToolEnd], [*ToolStep], [*ApprovalRequested]
// and [*ApprovalResolved]. Whoever gets one must not change it.
type Event interface {
	// Kind is the event's type in JSON, such as "tool_start".
	Kind() string
	// Of returns the call that the event is about.
	Of() CallID
}

// About is what all events have: the call, and when it happened.
type About struct {
	CallID
	At int64 `json:"at"` // Unix time in milliseconds
}

// Of returns the call.
func (a About) Of() CallID { return a.CallID }

// ToolStart says that a call begins: who it is and what it was asked, not what it has. For a
// call that goes on after a crash it comes again.
type ToolStart struct {
	About
	// Parent is the ID, in the same run, of the call that this one was made for; "" for none.
	Parent string          `json:"parentToolCallId,omitempty"`
	Tool   string          `json:"toolName"`
	Args   json.RawMessage `json:"args,omitempty"`
}

// ToolUpdate is what changed in the call's output. The first one is a base batch.
type ToolUpdate struct {
	About
	Ops []chord.Op `json:"-"` // [Encoder] writes them in the wire form of chord
}

// ToolEnd says that the call has ended. Its output is what was folded.
type ToolEnd struct {
	About
	IsError bool `json:"isError"`
}

// StepStatus says how far a step has come.
type StepStatus string

const (
	StepRunning StepStatus = "running"
	StepDone    StepStatus = "done"
	StepFailed  StepStatus = "failed"
	// StepStopped is a step that was running when its call ended.
	StepStopped StepStatus = "stopped"
)

// ToolStep says that a step of the call began or ended.
type ToolStep struct {
	About
	Step   string     `json:"stepId"` // unique within the call
	Title  string     `json:"title,omitempty"`
	Status StepStatus `json:"status"`
}

// ApprovalRequested says that the call waits for a person's decision. A call waits for one at a
// time.
type ApprovalRequested struct {
	About
	Parent   string `json:"parentToolCallId,omitempty"` // as in the call's [ToolStart]
	Approval string `json:"approvalId"`                 // names the decision, for the harness
	Title    string `json:"title"`                      // what is to be decided
	Detail   string `json:"detail,omitempty"`           // what it is about, such as a command
}

// Decision is the outcome of an approval.
type Decision string

const (
	Approved Decision = "approved"
	Denied   Decision = "denied"
	// Withdrawn: the call was canceled before anyone decided.
	Withdrawn Decision = "withdrawn"
)

// ApprovalResolved says that the decision was made, or is not wanted any more.
type ApprovalResolved struct {
	About
	Approval string   `json:"approvalId"`
	Decision Decision `json:"decision"`
}

// Kind returns "tool_start".
func (*ToolStart) Kind() string { return "tool_start" }

// Kind returns "tool_update".
func (*ToolUpdate) Kind() string { return "tool_update" }

// Kind returns "tool_end".
func (*ToolEnd) Kind() string { return "tool_end" }

// Kind returns "tool_step".
func (*ToolStep) Kind() string { return "tool_step" }

// Kind returns "approval_requested".
func (*ApprovalRequested) Kind() string { return "approval_requested" }

// Kind returns "approval_resolved".
func (*ApprovalResolved) Kind() string { return "approval_resolved" }
