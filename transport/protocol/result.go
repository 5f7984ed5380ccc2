package protocol

// This file is what an execution comes to: its one final result.

import (
	"time"

	"github.com/execagent/execagent/limits"
)

// Reason says what ended an execution.
type Reason string

const (
	// ReasonExited: the command ended by itself.
	ReasonExited Reason = "exited"
	// ReasonSignaled: a signal that the agent did not send ended it.
	ReasonSignaled Reason = "signaled"
	// ReasonTimeout: it ran longer than its timeout and was ended.
	ReasonTimeout Reason = "timeout"
	// ReasonCanceled: a client or the agent's own end ended it.
	ReasonCanceled Reason = "canceled"
	// ReasonSpillFailed: its whole output could not be kept, which its spec insists on, and
	// it was ended.
	ReasonSpillFailed Reason = "spill-failed"
	// ReasonAgentLost: the agent that ran it ended without its result, and the one that
	// answers has found what that left behind. Whether the command goes on is not known.
	ReasonAgentLost Reason = "agent-lost"
)

// Result is the outcome of a settled execution. It is sent once, after the last batch.
type Result struct {
	ID     string `json:"id"`
	Reason Reason `json:"reason"`
	// ExitCode is the shell's convention: the command's own, or 128 plus the signal; 125 when
	// Reason is [ReasonAgentLost] and there is none.
	ExitCode int `json:"exitCode"`
	// Signal is the name without SIG of the signal that ended the command's leader, such
	// as "KILL"; nil when it exited.
	Signal *string `json:"signal"`
	// Truncation is that of the final view.
	Truncation limits.Truncation `json:"truncation"`
	// SpillPath, SpillError and LastLineBytes are those of the final view.
	SpillPath     string      `json:"spillPath,omitempty"`
	SpillError    *SpillError `json:"spillError,omitempty"`
	LastLineBytes int64       `json:"lastLineBytes,omitempty"`
	// Leftovers are processes of the execution that outlived it.
	Leftovers []Process `json:"leftovers"`
	// Seconds is the time from start to settled.
	Seconds float64 `json:"seconds"`
	// CPUSeconds is the processor time of the leader and the children it waited for, or of
	// the whole tree where a cgroup knows.
	CPUSeconds float64 `json:"cpuSeconds"`
	// MaxRSSKiB is the peak resident set of the largest of those, in KiB, or of all
	// together where a cgroup knows. It is never less than the agent's own size at the
	// start: Linux counts the moment before the exec.
	MaxRSSKiB int64 `json:"maxRssKiB"`
	// OOMKilled says that the kernel killed one of the command's processes because they
	// were over the memory limit. Known with cgroups only.
	OOMKilled bool `json:"oomKilled,omitempty"`
	// LastSeen is when the numbers here were true of an execution whose agent was lost.
	LastSeen time.Time `json:"lastSeen,omitzero"`
}

// Process is a process left behind.
type Process struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
}
