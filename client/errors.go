package client

// This file is the errors a caller may have to tell apart, beside [Failure] and those of the
// transport.

import (
	"errors"
	"fmt"

	"github.com/execagent/execagent/transport/protocol"
)

// LostError says that the connection ended before the result came, and was not made again. What
// the command did since is unknown; it is not an exit. The cause is [ErrAgentRestarted] where
// nobody will ever know.
type LostError struct {
	ID    string         // the execution
	State protocol.State // the last state seen; "" if it is not known to have started
	Err   error          // what happened to the connection
	// Found is what another start of the agent has found of the execution, such as its file
	// and how many bytes it wrote; nil if nothing.
	Found *Result
}

func (e *LostError) Error() string {
	seen := "last seen " + string(e.State)
	if e.State == "" {
		seen = "not seen to start"
	}
	text := fmt.Sprintf("client: connection lost, outcome of %q unknown (%s): %v", e.ID, seen, e.Err)
	if e.Found != nil && e.Found.SpillPath != "" {
		text += fmt.Sprintf("; its output until then: %q", e.Found.SpillPath)
	}
	return text
}

func (e *LostError) Unwrap() error { return e.Err }

// ProtocolError says that the agent sent what this client cannot follow.
type ProtocolError struct {
	Doing string // what the client was doing
	Err   error
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("client: %s: the agent sent something wrong: %v", e.Doing, e.Err)
}

func (e *ProtocolError) Unwrap() error { return e.Err }

// ErrAgentRestarted says that the agent reached now is not the one that had the execution, which
// ended with that one. Commands can be started on it as before.
var ErrAgentRestarted = errors.New("the agent was started anew")

// Errors of [Execution.Stdin], found with [errors.Is].
var (
	// ErrNoStdin is returned for input to a command that was started without.
	ErrNoStdin = errors.New("client: the command has no stdin: start it with Spec.Stdin = client.StdinPipe (execctl run --stdin)")
	// ErrStdinClosed is returned for input after its end: this or another client ended it,
	// or the command itself closed its stdin.
	ErrStdinClosed = errors.New("client: the command's stdin is closed")
	// ErrProcessEnded is returned for input to a command that has ended.
	ErrProcessEnded = errors.New("client: the command has ended and takes no input")
)
