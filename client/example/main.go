// Example runs three tools against an agent in this process, and prints the lane as it changes.
//
//	go run ./client/example
//
// It is what a harness does, but for the model: here the three calls are given. The first is the
// ready bash tool, which a person has to approve; the second writes for itself and counts in its
// details; the third asks the first for help, as a subagent would, and fails.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/client/embed"
	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/client/sink"
	"github.com/execagent/execagent/limits"
)

func main() {
	dir, err := os.MkdirTemp("", "example")
	if err == nil {
		err = run(context.Background(), os.Stdout, dir)
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the three calls, with the spill and the journal in dir.
func run(ctx context.Context, w io.Writer, dir string) error {
	conn, err := embed.Dial(ctx, embed.Options{SpillDir: filepath.Join(dir, "spill")})
	if err != nil {
		return err
	}
	defer conn.Close()
	j, err := journal.Open(filepath.Join(dir, "journal"))
	if err != nil {
		return err
	}
	defer j.Close()

	p := &printer{w: w}
	runner := sink.NewRunner(sink.Options{Emit: p.emit, Journal: j, Policy: policy})
	p.approve = runner.Approve // a person who approves of everything
	bash := sink.Bash(conn, client.Spec{Limits: limits.Limits{MaxLines: 2}})
	for _, c := range []struct {
		tool sink.Tool
		id   string
		args any
	}{
		{bash, "call-1", sink.BashArgs{Command: "seq 1 1000"}},
		{checkTool, "call-2", checkArgs{Files: []string{"a.go", "b.go", "c.go"}}},
		{helpTool(runner, bash), "call-3", struct{}{}},
	} {
		args, err := json.Marshal(c.args)
		if err != nil {
			return err
		}
		call := sink.Call{CallID: lane.CallID{Run: "run-1", Turn: "turn-1", ID: c.id}, Args: args}
		outcome, err := runner.Run(ctx, c.tool, call)
		if err != nil {
			return err
		}
		p.result(c.id, outcome)
	}
	// The harness has what it wants from the run; nothing of it is pending any more.
	return j.Settle("run-1", []byte(`"three calls"`))
}

// policy has a person decide about commands and about nothing else.
func policy(tool string, _ sink.Call) sink.Verdict {
	if tool == "bash" {
		return sink.Ask
	}
	return sink.Allow
}

// checkArgs are the arguments of the tool "check".
type checkArgs struct {
	Files []string `json:"files"`
}

// checkDetails are what its renderer knows.
type checkDetails struct {
	Passed   int      `json:"passed"`
	Failures []string `json:"failures"`
}

// checkTool checks files, at least in name. It is replay-safe: after a crash it goes on with the file
// that it had not done.
var checkTool = sink.Define("check", sink.ToolOptions{ReplaySafe: true},
	func(ctx context.Context, inv *sink.Invocation, out *sink.ToolOutput[checkDetails]) error {
		var args checkArgs
		if err := inv.Args(&args); err != nil {
			return err
		}
		for _, file := range args.Files {
			err := inv.Once(file, func() error {
				end := inv.Step("check " + file)
				if file == "b.go" {
					out.Details().Failures = append(out.Details().Failures, file)
					end(errors.New("bad"))
				} else {
					out.Details().Passed++
					end(nil)
				}
				fmt.Fprintln(out, "checked", file)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})

// helpTool runs another tool, and then fails.
func helpTool(runner *sink.Runner, bash sink.Tool) sink.Tool {
	return sink.Define("help", sink.ToolOptions{},
		func(ctx context.Context, inv *sink.Invocation, out *sink.ToolOutput[struct{}]) error {
			id := inv.Call().CallID
			parent := id.ID
			id.ID += "-1"
			_, err := runner.Run(ctx, bash, sink.Call{CallID: id, Parent: parent, Args: json.RawMessage(`{"command":"exit 3"}`)})
			if err != nil {
				return err
			}
			fmt.Fprintln(out, "asked for help")
			return errors.New("no help came")
		})
}

// printer folds the events and prints the lane.
type printer struct {
	w       io.Writer
	view    lane.View
	approve func(id string) error
	last    map[lane.CallID]string
}

func (p *printer) emit(e lane.Event) {
	lane.Reduce(&p.view, e)
	for _, c := range p.view.Calls {
		p.card(c)
	}
	if ask, ok := e.(*lane.ApprovalRequested); ok {
		_ = p.approve(ask.Approval) // here at once; a person would take their time
	}
}

// card prints what a call's card shows at a glance, when it has changed.
func (p *printer) card(c *lane.Call) {
	a := &c.Activity
	line := fmt.Sprintf("%-8s %-5s %-7s", c.ID, c.Tool, a.Status)
	if a.TotalSteps > 0 {
		line += fmt.Sprintf("  %s (steps: %d, done: %d, failed: %d)", a.Step, a.TotalSteps, a.DoneSteps, a.FailedSteps)
	}
	if a.Approval != nil {
		line += "  approve " + a.Approval.Detail + "?"
	}
	if a.SpillPath != "" {
		line += "  all of it: " + a.SpillPath
	}
	if p.last == nil {
		p.last = make(map[lane.CallID]string)
	}
	if p.last[c.CallID] != line {
		p.last[c.CallID] = line
		fmt.Fprintln(p.w, strings.TrimRight(line, " "))
	}
}

// result prints what the model would get.
func (p *printer) result(id string, o *sink.Outcome) {
	text := strings.TrimSuffix(o.State.Text(), "\n")
	fmt.Fprintf(p.w, "%s is done, error %t, details %s:\n%s\n\n", id, o.IsError, o.State.Details, text)
}
