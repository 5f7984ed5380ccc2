package protocol

// This file is how clients look into the agent's spill directory.

import "time"

// MaxSpills is the most executions of which an agent keeps a manifest or a file, and so the most
// that a list of them has, with those that run.
const MaxSpills = 10_000

// Lines is a range of lines of a spill, counted from 1, both included. From 0 is the first, To 0
// the last.
type Lines struct {
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to,omitempty"`
}

// Check returns a [*SpecError] for a range that cannot be.
func (l Lines) Check() error {
	if l.From < 0 || l.To < 0 {
		return &SpecError{"lines", "", "count lines from 1; 0 means the first or the last"}
	}
	return nil
}

// SpillState is how far an execution has come as the spill directory knows it.
type SpillState string

const (
	// SpillRunning: it has not settled.
	SpillRunning SpillState = "running"
	// SpillSettled: its result is final.
	SpillSettled SpillState = "settled"
	// SpillLost: its agent ended before it settled.
	SpillLost SpillState = "lost"
)

// Spill is one execution in the spill directory, which remembers it longer than the agent's
// registry.
type Spill struct {
	ID    string     `json:"id"`
	State SpillState `json:"state"`
	// Command is cut to [MaxSummaryBytes]; "" when it is not known any more.
	Command string    `json:"command"`
	Begun   time.Time `json:"begun"`
	// Ended is when it settled or was found lost.
	Ended time.Time `json:"ended,omitzero"`
	// TotalBytes and TotalLines count what it printed, of a lost one as last known.
	TotalBytes int64 `json:"totalBytes"`
	TotalLines int64 `json:"totalLines"`
	// Path is the file with its output on the agent's machine, "" when there is none, and
	// FileBytes the size of that.
	Path      string `json:"path,omitempty"`
	FileBytes int64  `json:"fileBytes,omitempty"`
	// Reason and ExitCode are those of the result, once there is one.
	Reason   Reason `json:"reason,omitempty"`
	ExitCode *int   `json:"exitCode,omitempty"`
}
