// Package sink runs an AI agent's tools: it gives every call a sink for what the tool produces,
// and takes that, bounded, to whoever watches and to the journal.
//
// [Define] makes a tool, [NewRunner] a lane to run them in, and [Runner.Run] runs a call. [Bash] is a
// ready tool that runs a command in an agent.
//
// # Shape
//
//	tool ─▶ ToolOutput ─▶ publication ─┬─▶ journal    one encoded batch a flush
//	command ─▶ Pipe ──┘   (paced)      └─▶ Emit ─▶ lane.Reduce ─▶ what people and the model see
//
// A tool returns nothing but an error. What it writes into its [ToolOutput] is the result, what
// the consumers folded is that same result, and nothing is sent a second time: not when the call
// ends, and not when it fails, is canceled or is interrupted by a crash, which all keep what was
// written.
//
// # Limits
//
// The text is bounded by the tool's own limits; text that comes from an agent by [Output.Pipe]
// was bounded there, by the same, and is not looked at again. Images, details, notes and the
// names of tools have bounds of their own (the constants of this package); what goes over one is
// an error to the tool. Changes are published as [limits.Publisher] has it: at once after
// quiet, then not before 100 ms have passed, only the latest state.
//
// # Permission
//
// Unless a policy says otherwise, a call waits until somebody calls [Runner.Approve] or
// [Runner.Deny]. Nothing of it runs meanwhile. However the call ends, so does the wish for a decision.
//
// # After a crash
//
// With a journal, a call is noted when it is permitted, and every flush is durable before anyone
// is told of it, unless the journal fails or the tool is within [Invocation.Once].
// [Invocation.SetMemo] makes a memo durable together with the output as it is then. A call of a
// replay-safe tool that is run again goes on with both; nothing of its output is discarded. Any
// other ends with the output that was durable and a mark.
//
// # Concurrency
//
// A [Runner] is safe for concurrent use. Run waits for the tool and for its own goroutines; a
// tool that does not return holds it up. The tool's details belong to the tool; see
// [ToolOutput.Details].
//
// # Trust
//
// Commands and agents are hostile: what comes from them is text, bounded. Tools are the
// harness's own.
package sink
