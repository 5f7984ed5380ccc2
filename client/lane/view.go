package lane

// This file is what a consumer knows of a lane: a plain value.

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/execagent/execagent/chord"
)

// MaxEnded is how many calls that have ended a [View] keeps.
const MaxEnded = 100

// View is what the events so far add up to. The zero value is an empty lane. It is plain data,
// which encoding/json takes to another process and a chord.Tracker follows.
type View struct {
	// Calls are those that run and the last [MaxEnded] that ended, in the order of their start.
	Calls []*Call `json:"calls"`
	// Dropped counts those that ended before.
	Dropped int64 `json:"dropped"`
}

// Call is one tool call.
type Call struct {
	CallID
	Parent string          `json:"parentToolCallId,omitempty"`
	Tool   string          `json:"toolName"`
	Args   json.RawMessage `json:"args,omitempty"`
	// Output is the document of [State], nil before the first update. Reduce replaces it and
	// never changes it in place.
	Output any `json:"output"`
	// Stale says that a change did not fit Output, which stays as it was until a base batch.
	Stale    bool     `json:"stale,omitempty"`
	Ended    bool     `json:"ended"`
	IsError  bool     `json:"isError"`
	Activity Activity `json:"activity"`
}

// Call returns the call of this identity, or nil.
func (v *View) Call(id CallID) *Call {
	for _, c := range slices.Backward(v.Calls) {
		if c.CallID == id {
			return c
		}
	}
	return nil
}

// Approvals returns what waits for a person, in the order of the calls.
func (v *View) Approvals() []Approval {
	var pending []Approval
	for _, c := range v.Calls {
		if c.Activity.Approval != nil {
			pending = append(pending, *c.Activity.Approval)
		}
	}
	return pending
}

// State reads the call's output. It fails before the first update, and for a document that is
// no output.
func (c *Call) State() (*State, error) { return ReadState(c.Output) }

// Base returns an update that any consumer that has seen the call's start can go on from.
func (c *Call) Base() *ToolUpdate {
	return &ToolUpdate{
		About: About{c.CallID, time.Now().UnixMilli()},
		Ops:   []chord.Op{{Verb: chord.Replace, Value: c.Output}},
	}
}

// parent returns the call that c was made for, or nil.
func (v *View) parent(c *Call) *Call {
	if c.Parent == "" {
		return nil
	}
	for _, p := range slices.Backward(v.Calls) {
		if p.Run == c.Run && p.ID == c.Parent && p != c {
			return p
		}
	}
	return nil
}

// dropEnded forgets the oldest calls over [MaxEnded].
func (v *View) dropEnded() {
	over := -MaxEnded
	for _, c := range v.Calls {
		if c.Ended {
			over++
		}
	}
	v.Calls = slices.DeleteFunc(v.Calls, func(c *Call) bool {
		if !c.Ended || over <= 0 {
			return false
		}
		over--
		v.Dropped++
		return true
	})
}
