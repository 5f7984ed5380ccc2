package sink

// This file is a ready tool: a shell command in an agent.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
)

// BashArgs are the arguments of [Bash].
type BashArgs struct {
	// Command is run by a shell.
	Command string `json:"command"`
	// Timeout ends it after so many seconds; 0 leaves that to the Spec.
	Timeout float64 `json:"timeout,omitempty"`
}

// BashDetails are the details of [Bash].
type BashDetails struct {
	// Reason is what ended the command, "" while it runs.
	Reason protocol.Reason `json:"reason,omitempty"`
	// ExitCode is the shell's convention, set at the end unless it is not known.
	ExitCode *int `json:"exitCode,omitempty"`
	// Seconds is how long it ran.
	Seconds float64 `json:"seconds,omitempty"`
	// Leftovers are processes of the command that run on.
	Leftovers []protocol.Process `json:"leftovers,omitempty"`
}

// Starter starts commands: a [client.Conn], or one of package client/embed.
type Starter interface {
	Start(ctx context.Context, spec client.Spec) (*client.Command, error)
}

// ExitError says that a command did not end well. It is a result like any other; only the
// model has to read it.
type ExitError struct{ Result *client.Result }

func (e *ExitError) Error() string {
	switch r := e.Result; r.Reason {
	case protocol.ReasonTimeout:
		return fmt.Sprintf("The command was ended at its timeout, after %.1f seconds.", r.Seconds)
	case protocol.ReasonCanceled:
		return "The command was canceled."
	case protocol.ReasonSignaled:
		name := "?"
		if r.Signal != nil {
			name = *r.Signal
		}
		return fmt.Sprintf("The command was killed by SIG%s (exit code %d).", name, r.ExitCode)
	case protocol.ReasonSpillFailed:
		return "The command was ended because its complete output could not be kept."
	case protocol.ReasonAgentLost:
		return "The agent that ran the command ended; whether the command goes on, and how it ended, is unknown."
	default:
		return fmt.Sprintf("The command exited with code %d.", r.ExitCode)
	}
}

// Bash is a tool called "bash", which runs a command by the agent of conn as spec says, but for
// the command itself. Its output is the command's view and, when that is not everything, a
// footer that names the lines shown, the limit and the file with all of it. A command that does
// not exit with 0 is an [*ExitError]; one whose connection is lost a [*client.LostError].
func Bash(conn Starter, spec client.Spec) Tool {
	return Define("bash", ToolOptions{Limits: spec.Limits},
		func(ctx context.Context, inv *Invocation, out *ToolOutput[BashDetails]) error {
			s, err := bashSpec(spec, inv)
			if err != nil {
				return err
			}
			return runBash(ctx, conn, s, out)
		})
}

// bashSpec is the spec of one call.
func bashSpec(s client.Spec, inv *Invocation) (client.Spec, error) {
	var args BashArgs
	if err := inv.Args(&args); err != nil {
		return s, err
	}
	if args.Command == "" {
		return s, errors.New("the arguments have no command")
	}
	if !(args.Timeout >= 0) || args.Timeout > math.MaxInt64/float64(time.Second) {
		return s, fmt.Errorf("a timeout of %v seconds: give 0 or more", args.Timeout)
	}
	s.ID, s.Command, s.Argv = "", args.Command, nil
	if args.Timeout > 0 {
		s.Timeout = time.Duration(args.Timeout * float64(time.Second))
	}
	return s, nil
}

func runBash(ctx context.Context, conn Starter, s client.Spec, out *ToolOutput[BashDetails]) error {
	s.Limits = out.Limits()
	cmd, err := conn.Start(ctx, s)
	if err != nil {
		return err
	}
	defer cmd.Close()
	r, err := out.Pipe(cmd)
	if tooLong := (*BoundError)(nil); errors.As(err, &tooLong) {
		_ = cmd.Cancel(ctx) // nobody follows it any more
	}
	if err != nil {
		return err
	}
	*out.Details() = BashDetails{Reason: r.Reason, ExitCode: &r.ExitCode, Seconds: r.Seconds, Leftovers: r.Leftovers}
	if r.Reason == protocol.ReasonAgentLost {
		out.Details().ExitCode = nil
	}
	if r.Truncation.Truncated {
		if err := out.Note(footer(r)); err != nil {
			return err
		}
	}
	if r.Reason != protocol.ReasonExited || r.ExitCode != 0 {
		return &ExitError{r}
	}
	return nil
}

// footer says which lines are shown, why not more, and where the rest is.
func footer(r *client.Result) string {
	t := r.Truncation
	shown := fmt.Sprintf("Showing lines %d–%d of %d", t.FirstLine, t.FirstLine+t.OutputLines-1, t.TotalLines)
	if t.OutputLines == 0 {
		shown = fmt.Sprintf("Showing none of %d lines", t.TotalLines)
	}
	if t.LastLinePartial {
		shown += fmt.Sprintf(", the last of which has %d bytes and is cut", r.LastLineBytes)
	}
	limit := fmt.Sprintf("%d bytes", t.MaxBytes)
	if t.TruncatedBy != nil && *t.TruncatedBy == limits.ByLines {
		limit = fmt.Sprintf("%d lines", t.MaxLines)
	}
	where := "The complete output was not kept"
	switch {
	case r.SpillPath != "" && r.SpillError != nil:
		where = fmt.Sprintf("The first %d bytes of it: %s", r.SpillError.SafeBytes, r.SpillPath)
	case r.SpillPath != "":
		where = "Complete output: " + r.SpillPath
	}
	return fmt.Sprintf("[%s (limit: %s). %s]", shown, limit, where)
}
