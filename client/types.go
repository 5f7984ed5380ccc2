package client

// This file gives the shared message types the names that callers of this package use.

import "github.com/execagent/execagent/transport/protocol"

type (
	// Spec says what to run; see [protocol.Spec].
	Spec = protocol.Spec
	// View is the bounded output of an execution; see [protocol.View].
	View = protocol.View
	// Result is the outcome of an execution; see [protocol.Result].
	Result = protocol.Result
	// Failure is an agent's refusal; its Code tells refusals apart.
	Failure = protocol.Failure
	// Summary is one execution in short; see [protocol.Summary].
	Summary = protocol.Summary
	// AgentStatus is how an agent is doing; see [protocol.Status].
	AgentStatus = protocol.Status
	// Spill is one execution in the agent's spill directory, and Lines a range of lines of its
	// output; see [protocol.Spill].
	Spill = protocol.Spill
	Lines = protocol.Lines
	// Started is what an agent says of an execution when it is started or attached to.
	Started = protocol.Started
)

const (
	// StdinNone and StdinPipe are the values of [Spec].Stdin.
	StdinNone = protocol.StdinNone
	StdinPipe = protocol.StdinPipe
	// Keep and Kill are the values of [Spec].OnDisconnect.
	Keep = protocol.Keep
	Kill = protocol.Kill
)
