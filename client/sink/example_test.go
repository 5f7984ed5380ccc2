package sink_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/client/sink"
)

// A tool with details of its own, run without asking anyone. It fails, and what it wrote stays.
func Example() {
	type details struct {
		Passed   int      `json:"passed"`
		Failures []string `json:"failures"`
	}
	test := sink.Define("test", sink.ToolOptions{},
		func(ctx context.Context, inv *sink.Invocation, out *sink.ToolOutput[details]) error {
			fmt.Fprintln(out, "ok   a")
			out.Details().Passed++
			fmt.Fprintln(out, "FAIL b")
			out.Details().Failures = append(out.Details().Failures, "b")
			return errors.New("1 test failed")
		})

	var view lane.View // what a consumer has folded
	runner := sink.NewRunner(sink.Options{
		Emit:   func(e lane.Event) { lane.Reduce(&view, e) },
		Policy: func(string, sink.Call) sink.Verdict { return sink.Allow },
	})
	call := sink.Call{CallID: lane.CallID{Run: "run-1", Turn: "turn-1", ID: "call-1"}}
	outcome, err := runner.Run(context.Background(), test, call)
	if err != nil {
		log.Fatal(err)
	}
	folded, err := view.Call(call.CallID).State()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(folded.Text())
	fmt.Println(string(folded.Details), outcome.IsError, folded.Text() == outcome.State.Text())
	// Output:
	// ok   a
	// FAIL b
	// 1 test failed
	// {"failures":["b"],"passed":1} true true
}

// A call waits until somebody decides. Here the program does, as soon as it is asked.
func ExampleRunner_Approve() {
	tool := sink.Define("deploy", sink.ToolOptions{},
		func(ctx context.Context, inv *sink.Invocation, out *sink.ToolOutput[struct{}]) error {
			fmt.Fprint(out, "deployed")
			return nil
		})
	var runner *sink.Runner
	runner = sink.NewRunner(sink.Options{Emit: func(e lane.Event) {
		if ask, ok := e.(*lane.ApprovalRequested); ok {
			fmt.Println("may I:", ask.Title)
			if err := runner.Deny(ask.Approval, "not on a Friday"); err != nil {
				log.Fatal(err)
			}
		}
	}})
	outcome, err := runner.Run(context.Background(), tool, sink.Call{CallID: lane.CallID{Run: "run-1", ID: "call-1"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.State.Text())
	// Output:
	// may I: deploy
	// denied: not on a Friday
}
