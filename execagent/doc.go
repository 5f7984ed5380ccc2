// Package execagent is the agent: it runs commands, bounds their output where it is born,
// keeps all of it in a file, and tells watchers of the view.
//
// Make an [Agent] with [New], let it serve connections with [Agent.Serve] or
// [Agent.ServeConn], and end it with [Agent.Close].
//
// # Shape
//
//	start.go    Spec ─▶ a process under a PTY or pipe
//	pump.go     PTY bytes ─▶ output          the only reader; never waits for a peer
//	output.go   ─▶ limits.Window, spill.File
//	state.go    ─▶ chord ops over the view
//	watcher.go  ─▶ frames on a stream, paced
//	life.go     exit, end of output, kill, settle
//	serve.go    sessions and streams ─▶ executions
//
// An execution goes forward only: running, exited (the leader's status is known), settled
// (its output is complete, its result final).
//
// # Concurrency
//
// An [Agent] is safe for concurrent use. It owns every goroutine and process it starts;
// Close ends the commands and waits for all of them.
//
// # Trust
//
// A client may run any command the agent's user may. What clients send is checked; what
// commands print is data. Neither can end the agent or touch another client's stream.
//
// The package is for Linux.
package execagent
