package crash

// This file is the process that is killed: it runs one call of a tool with a journal.

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/client/sink"
	"github.com/execagent/execagent/limits"
	"go.uber.org/goleak"
)

const (
	// childJournal and childLife are variables of the environment that make this binary the child:
	// the journal's path, and how many lives the call has had before.
	childJournal = "EXECAGENT_CRASH_JOURNAL"
	childLife    = "EXECAGENT_CRASH_LIFE"

	steps        = 40
	linesPerStep = 3
)

var call = sink.Call{CallID: lane.CallID{Run: "run", Turn: "turn", ID: "call"}}

func TestMain(m *testing.M) {
	if path := os.Getenv(childJournal); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child runs the call to its end, if it gets so far. It says when it begins.
func child(path string) error {
	life, err := strconv.Atoi(os.Getenv(childLife))
	if err != nil {
		return err
	}
	j, err := journal.Open(path)
	if err != nil {
		return err
	}
	defer j.Close()
	fmt.Println("begins")
	r := sink.NewRunner(sink.Options{Journal: j, Policy: func(string, sink.Call) sink.Verdict { return sink.Allow }})
	_, err = r.Run(context.Background(), worker(life), call)
	return err
}

// once says which steps are done within Once; the others set their memo by themselves.
func once(step int) bool { return step%2 == 0 }

func memoName(step int) string { return fmt.Sprint("step ", step) }

// line is one of those that a step writes: unique to the step and the life that does it.
func line(step, life, n int) string { return fmt.Sprintf("step %d, life %d, line %d\n", step, life, n) }

// pause is how long a step waits after each line. Now and then it is longer than the pace of
// flushes, so that half of a step is published.
func pause(step int) time.Duration {
	if step%10 == 3 || step%10 == 4 {
		return 60 * time.Millisecond
	}
	return time.Millisecond
}

// worker does its steps, and memoises each.
func worker(life int) sink.Tool {
	return sink.Define("worker", sink.ToolOptions{ReplaySafe: true, Limits: limits.Limits{MaxBytes: 1 << 20, MaxLines: 1 << 20}},
		func(_ context.Context, inv *sink.Invocation, out *sink.ToolOutput[struct{}]) error {
			for step := range steps {
				if done, err := inv.Memo(memoName(step), nil); done || err != nil {
					continue
				}
				work := func() error {
					for n := range linesPerStep {
						fmt.Fprint(out, line(step, life, n))
						time.Sleep(pause(step))
					}
					return nil
				}
				var err error
				if once(step) {
					err = inv.Once(memoName(step), work)
				} else if err = work(); err == nil {
					err = inv.SetMemo(memoName(step), life)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
}
