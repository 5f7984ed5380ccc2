package lane

// This file is the live activity snapshot of a call: what a card shows at a glance.

import (
	"slices"
	"time"
	"unicode/utf8"
)

const (
	// MaxSteps is how many steps an [Activity] lists.
	MaxSteps = 20
	// MaxTitleBytes bounds the titles in a view, in bytes of UTF-8.
	MaxTitleBytes = 200
	// MaxDetailBytes bounds what an [Approval] is about.
	MaxDetailBytes = 16 << 10
)

// Status says how far a call has come.
type Status string

const (
	Running Status = "running"
	// Waiting: nothing goes on until somebody decides.
	Waiting Status = "waiting"
	Done    Status = "done"
	Failed  Status = "failed"
)

// Activity is what a call is doing, how much has happened, whether somebody has to decide, and
// where the rest is.
type Activity struct {
	Status Status `json:"status"`
	// Step is the title of the newest step, "" before the first.
	Step string `json:"step,omitempty"`
	// StartedAt and EndedAt are Unix times in milliseconds; EndedAt is 0 until the end.
	StartedAt int64 `json:"startedAt"`
	EndedAt   int64 `json:"endedAt,omitempty"`
	// Steps are the newest [MaxSteps], the newest first. The calls made for this one are
	// steps too.
	Steps []Step `json:"steps,omitempty"`
	// TotalSteps, DoneSteps and FailedSteps count all of them.
	TotalSteps  int64 `json:"totalSteps"`
	DoneSteps   int64 `json:"doneSteps"`
	FailedSteps int64 `json:"failedSteps"`
	// Approval is what somebody has to decide; nil for nothing.
	Approval *Approval `json:"approval,omitempty"`
	// ExecutionID and SpillPath are where the detail is; see [Source].
	ExecutionID string `json:"executionId,omitempty"`
	SpillPath   string `json:"spillPath,omitempty"`
}

// Step is one thing that a call did or does.
type Step struct {
	ID     string     `json:"stepId"`
	Title  string     `json:"title"`
	Status StepStatus `json:"status"`
	// StartedAt and EndedAt are Unix times in milliseconds; EndedAt is 0 while it runs.
	StartedAt int64 `json:"startedAt"`
	EndedAt   int64 `json:"endedAt,omitempty"`
}

// Approval is a decision that a person has to make. It belongs to its call and ends with it.
type Approval struct {
	CallID
	Parent string `json:"parentToolCallId,omitempty"`
	ID     string `json:"approvalId"`
	Title  string `json:"title"`
	Detail string `json:"detail,omitempty"`
	Since  int64  `json:"since"` // Unix time in milliseconds
}

// Duration is how long the call has been running at now, or ran.
func (a *Activity) Duration(now time.Time) time.Duration {
	end := a.EndedAt
	if end == 0 {
		end = now.UnixMilli()
	}
	return time.Duration(max(0, end-a.StartedAt)) * time.Millisecond
}

// step takes note of a step's beginning or end.
func (a *Activity) step(id, title string, status StepStatus, at int64) {
	switch status {
	case StepRunning:
		a.begin(Step{ID: id, Title: cut(title, MaxTitleBytes), Status: status, StartedAt: at})
		return
	case StepDone:
		a.DoneSteps++
	case StepFailed:
		a.FailedSteps++
	default:
		return
	}
	i := slices.IndexFunc(a.Steps, func(s Step) bool { return s.ID == id && s.Status == StepRunning })
	if i < 0 {
		return // no longer listed
	}
	a.Steps = slices.Clone(a.Steps)
	a.Steps[i].Status, a.Steps[i].EndedAt = status, at
}

// begin puts a step first. The list is a new one each time, so that a copy of an Activity keeps
// its own.
func (a *Activity) begin(s Step) {
	a.TotalSteps++
	a.Step = s.Title
	kept := a.Steps[:min(len(a.Steps), MaxSteps-1)]
	a.Steps = append([]Step{s}, kept...)
}

// end closes everything that is open.
func (a *Activity) end(isError bool, at int64) {
	a.Status, a.EndedAt, a.Approval = Done, at, nil
	if isError {
		a.Status = Failed
	}
	a.Steps = slices.Clone(a.Steps)
	for i := range a.Steps {
		if s := &a.Steps[i]; s.Status == StepRunning {
			s.Status, s.EndedAt = StepStopped, at
		}
	}
}

// cut shortens s to at most most bytes, on a character boundary.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const mark = "…"
	n := most - len(mark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}
