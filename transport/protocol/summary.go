package protocol

// This file is what a list says of each execution.

import (
	"strings"
	"unicode/utf8"
)

const (
	// MaxListed is the most executions that one reply lists: some 2 MiB of JSON.
	MaxListed = 4096
	// MaxSummaryBytes bounds the command in a [Summary].
	MaxSummaryBytes = 160
)

// Summary is one execution in short.
type Summary struct {
	ID    string `json:"id"`
	State State  `json:"state"`
	PID   int    `json:"pid"`
	// Command is the command or its arguments, at most [MaxSummaryBytes] of it.
	Command string `json:"command"`
	// Interactive says that it has a terminal of its own to attach to.
	Interactive bool `json:"interactive,omitempty"`
	// Seconds is the time since the start, or from start to settled.
	Seconds float64 `json:"seconds"`
	// TotalBytes is everything it has written.
	TotalBytes int64 `json:"totalBytes"`
	// Watchers is how many clients follow it now.
	Watchers int `json:"watchers"`
	// ExitCode and Signal are set once State is no longer [Running].
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
}

// ShortCommand is the command, or its arguments, shortened to be listed.
func (s *Spec) ShortCommand() string {
	command := s.Command
	if command == "" {
		command = strings.Join(s.Argv, " ")
	}
	return Shorten(strings.ToValidUTF8(command, "\uFFFD"))
}

// Shorten cuts a command to [MaxSummaryBytes], on a character's boundary, and marks the cut.
func Shorten(command string) string {
	const mark = "…"
	if len(command) <= MaxSummaryBytes {
		return command
	}
	cut := MaxSummaryBytes - len(mark)
	for cut > 0 && !utf8.RuneStart(command[cut]) {
		cut--
	}
	return command[:cut] + mark
}
