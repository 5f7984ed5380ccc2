// Package client runs commands in an agent and follows their output.
//
// [Dial] connects to an agent; [Conn.Start] runs a command there. [Command.Batches] yields
// what the agent sends, and folds it; [Command.View] is the bounded text so far;
// [Command.Wait] returns the one final result. To run an agent in this process instead, see
// the package client/embed.
//
// An agent that cannot be dialed dials instead: [Listen] and [Listener.Accept] wait for it.
//
// Two other ways to follow a command are for other readers: [Conn.StartTerminal] for a person
// who types at it, [Conn.StartStream] for a program that speaks a protocol with it.
//
// # Shape
//
//	frames ─▶ chord.Decoder ─▶ chord.Apply ─▶ View
//
// Nothing of a view is read ahead: a caller that does not ask for batches costs the agent two
// unacknowledged ones, and finds the latest state when it asks again.
//
// # Concurrency
//
// A [Conn] is safe for concurrent use and closed by whoever dialed it. Of a [Command], one
// goroutine at a time may use Batches and Wait; its other methods are safe beside that.
//
// # Outcomes
//
// Wait returns a result if and only if the command settled, whatever its exit code. A
// refusal by the agent is a [*Failure]. A connection that breaks is a [*LostError]: the
// command goes on, its outcome is unknown here, and [Conn.Attach] on a new connection finds
// it by its ID.
//
// # Reconnecting
//
// With [Options].Reconnect a connection that breaks is no error, for so long: the agent is
// dialed again, with pauses that double up to five seconds. Meanwhile calls wait, until their
// contexts end; [Options].OnStatus tells. Then
//
//   - Batches goes on with a base batch, and Chunks behind the gap of what was missed;
//   - what was being started or asked is sent again, and is still done once; a signal is not
//     sent again;
//   - stdin goes on at the byte where the command is;
//   - a [Stream] has ended in a LostError, because it is lossless.
//
// An agent that was started anew is no substitute: what the old one ran is a LostError by
// [ErrAgentRestarted], unless it had ended before and the new one has found its result.
//
// # Trust
//
// The agent runs in a sandbox that may have been taken over: what it sends is bounded and
// checked, and can end nothing but this connection.
package client
