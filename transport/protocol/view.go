package protocol

// This file is the document that batches are about: what a watcher knows of an execution.

import "github.com/execagent/execagent/limits"

// State is how far an execution has come. It only goes forward:
//
//	running ──leader's status known──▶ exited ──output complete, result final──▶ settled
type State string

const (
	Running State = "running"
	Exited  State = "exited"
	Settled State = "settled"
)

// View is the bounded text of an execution and what goes with it. As JSON it is the document
// that a watcher's batches begin with and change. The text to show is Text + Live.
type View struct {
	State State `json:"state"`
	// Text is the retained text that no longer changes but at its ends, valid UTF-8.
	Text string `json:"text"`
	// Live is what may still be rewritten: the unfinished last line, and while a command
	// moves the cursor up also finished lines, which have been in Text before.
	Live string `json:"live"`
	// AltScreen says that the command shows its alternate screen, as editors and pagers
	// do. What it prints there is not in the view.
	AltScreen bool `json:"altScreen,omitempty"`
	// Truncation has the totals, and says what of them is shown.
	Truncation limits.Truncation `json:"truncation"`
	// LastLineBytes is the full size in bytes of text of the last line, its newline
	// included, when the view holds only part of it.
	LastLineBytes int64 `json:"lastLineBytes,omitempty"`
	// SpillPath is the file on the agent's machine with every raw byte, once it exists.
	SpillPath string `json:"spillPath,omitempty"`
	// SpillError says why the spill is incomplete, once it is.
	SpillError *SpillError `json:"spillError,omitempty"`
	// ExitCode and Signal are set once State is [Exited].
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
}

// CauseAgentLost says that the agent ended before the command did.
const CauseAgentLost = "agent-lost"

// SpillError says why a spill is incomplete.
type SpillError struct {
	// Cause is one word: file-quota, store-quota, low-space, disk-full, no-inodes, denied,
	// directory, removed, size-limit, io, or [CauseAgentLost].
	Cause   string `json:"cause"`
	Message string `json:"message"`
	// SafeBytes is how many bytes from the start of the output are in the file.
	SafeBytes int64 `json:"safeBytes"`
}
