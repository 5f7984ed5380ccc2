package sink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/execagent/execagent/client/lane"
)

// asked runs a call that has to be approved, in a bubble, until it waits, and has decide decide.
func asked(t *testing.T, tool Tool, decide func(r *Runner, w *watcher, a lane.Approval)) (*Outcome, *watcher) {
	t.Helper()
	var outcome *Outcome
	w := new(watcher)
	synctest.Test(t, func(t *testing.T) {
		r := NewRunner(Options{Emit: w.emit})
		ended := make(chan *Outcome)
		go func() {
			call := testCall
			call.Parent = "parent"
			o, err := r.Run(t.Context(), tool, call)
			if err != nil {
				t.Error(err)
			}
			ended <- o
		}()
		synctest.Wait()
		pending := w.view.Approvals()
		if len(pending) != 1 {
			t.Fatalf("%d approvals, want one", len(pending))
		}
		if a := &w.view.Calls[0].Activity; a.Status != lane.Waiting {
			t.Errorf("the call is %s, want waiting", a.Status)
		}
		decide(r, w, pending[0])
		outcome = <-ended
		for _, err := range []error{r.Approve(pending[0].ID), r.Deny(pending[0].ID, "")} {
			if !errors.Is(err, ErrNoApproval) {
				t.Errorf("a decision after the end: %v, want ErrNoApproval", err)
			}
		}
		if len(r.approvals) != 0 || len(w.view.Approvals()) != 0 {
			t.Errorf("stale approvals: %v, %v", r.approvals, w.view.Approvals())
		}
	})
	return outcome, w
}

// decisions are those that were told.
func decisions(w *watcher) (all []lane.Decision) {
	for _, e := range w.events {
		if e, ok := e.(*lane.ApprovalResolved); ok {
			all = append(all, e.Decision)
		}
	}
	return all
}

// TestPermission: by default a call is asked about, and nothing of it runs before the answer.
func TestPermission(t *testing.T) {
	for name, c := range map[string]struct {
		decide   func(r *Runner, a lane.Approval) error
		ran      bool
		decision lane.Decision
		text     string
	}{
		"approved": {func(r *Runner, a lane.Approval) error { return r.Approve(a.ID) }, true, lane.Approved, "ran"},
		"denied":   {func(r *Runner, a lane.Approval) error { return r.Deny(a.ID, "too risky") }, false, lane.Denied, "denied: too risky"},
		"canceled": {func(r *Runner, a lane.Approval) error { return r.Cancel(a.CallID) }, false, lane.Withdrawn, "The call was canceled."},
		"approved, then canceled": {func(r *Runner, a lane.Approval) error {
			return errors.Join(r.Approve(a.ID), r.Cancel(a.CallID))
		}, false, lane.Approved, "The call was canceled."},
	} {
		t.Run(name, func(t *testing.T) {
			ran := false
			o, w := asked(t, tool(func(_ context.Context, _ *Invocation, out *ToolOutput[struct{}]) error {
				ran = true
				fmt.Fprint(out, "ran")
				return nil
			}), func(r *Runner, w *watcher, a lane.Approval) {
				if ran {
					t.Error("the tool runs before the decision")
				}
				if a.Parent != "parent" || a.CallID != testCall.CallID || a.Title != "tool" || a.Detail != `{"x":1}` {
					t.Errorf("the approval is %+v", a)
				}
				must(t, c.decide(r, a))
			})
			if ran != c.ran || o.State.Text() != c.text || o.IsError == c.ran {
				t.Errorf("ran %t, error %t, %q, want %t, %q", ran, o.IsError, o.State.Text(), c.ran, c.text)
			}
			if got := decisions(w); len(got) != 1 || got[0] != c.decision {
				t.Errorf("decisions %v, want %v", got, c.decision)
			}
		})
	}
}

// TestAsk: a tool can ask on its way, one question at a time.
func TestAsk(t *testing.T) {
	var answers []error
	o, w := asked(t, tool(func(ctx context.Context, inv *Invocation, out *ToolOutput[struct{}]) error {
		for i := range 3 {
			answers = append(answers, inv.Ask(ctx, fmt.Sprint("question ", i), "rm -rf build"))
		}
		return nil
	}), func(r *Runner, w *watcher, a lane.Approval) {
		must(t, r.Approve(a.ID)) // the call itself
		for i := range 3 {
			synctest.Wait()
			pending := w.view.Approvals()
			if len(pending) != 1 || pending[0].Title != fmt.Sprint("question ", i) {
				t.Fatalf("pending %+v, want question %d", pending, i)
			}
			if i == 1 {
				must(t, r.Deny(pending[0].ID, ""))
			} else {
				must(t, r.Approve(pending[0].ID))
			}
		}
	})
	denied := (*DeniedError)(nil)
	if o.IsError || len(answers) != 3 || answers[0] != nil || !errors.As(answers[1], &denied) || answers[2] != nil {
		t.Errorf("answers %v, outcome %+v", answers, o)
	}
	if got := fmt.Sprint(decisions(w)); got != "[approved approved denied approved]" {
		t.Errorf("decisions %s", got)
	}
}

// TestAskLeft: a question that a tool leaves open, on a goroutine of its own, ends with the
// call, and no later one is asked.
func TestAskLeft(t *testing.T) {
	left := make(chan error, 2)
	synctest.Test(t, func(t *testing.T) {
		w := new(watcher)
		r := NewRunner(Options{Emit: w.emit, Policy: allow})
		var again func() error
		_, err := r.Run(t.Context(), tool(func(_ context.Context, inv *Invocation, _ *ToolOutput[struct{}]) error {
			again = func() error { return inv.Ask(context.Background(), "question", "") }
			go func() { left <- again() }()
			synctest.Wait()
			return nil
		}), testCall)
		must(t, err)
		left <- again()
		for range 2 {
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
		}
		want := "tool_start tool_update approval_requested approval_resolved tool_end"
		if got := strings.Join(w.kinds(), " "); got != want {
			t.Errorf("events %s, want %s", got, want)
		}
	})
}

// TestPolicy: a policy may let calls run, or refuse them, without asking anyone.
func TestPolicy(t *testing.T) {
	for verdict, want := range map[Verdict]string{Allow: "ran", Refuse: "denied: by policy"} {
		w := new(watcher)
		r := NewRunner(Options{Emit: w.emit, Policy: func(name string, c Call) Verdict {
			if name != "tool" || c.ID != "call" {
				t.Errorf("asked about %q, %+v", name, c)
			}
			return verdict
		}})
		o, err := r.Run(t.Context(), tool(func(_ context.Context, _ *Invocation, out *ToolOutput[struct{}]) error {
			fmt.Fprint(out, "ran")
			return nil
		}), testCall)
		must(t, err)
		if o.State.Text() != want || len(decisions(w)) != 0 {
			t.Errorf("verdict %d: %q, want %q", verdict, o.State.Text(), want)
		}
	}
}
