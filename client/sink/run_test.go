package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/client/lane"
	"github.com/google/go-cmp/cmp"
)

// tool makes a tool of a function without details.
func tool(f func(ctx context.Context, inv *Invocation, out *ToolOutput[struct{}]) error) Tool {
	return Define("tool", ToolOptions{}, f)
}

// TestEnds is how a call can end, and what its consumers and the model have then.
func TestEnds(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		tool Tool
		text string
		err  error // found with errors.Is, nil for success
	}{
		"well": {tool(func(_ context.Context, _ *Invocation, out *ToolOutput[struct{}]) error {
			fmt.Fprint(out, "done")
			return nil
		}), "done", nil},
		"an error": {tool(func(_ context.Context, _ *Invocation, out *ToolOutput[struct{}]) error {
			fmt.Fprint(out, "partial")
			return boom
		}), "partial\nboom", boom},
		"an error of megabytes": {tool(func(_ context.Context, _ *Invocation, out *ToolOutput[struct{}]) error {
			fmt.Fprint(out, "partial")
			return fmt.Errorf("%w%s", boom, strings.Repeat("é", 1<<20))
		}), "partial\nboom" + strings.Repeat("é", (maxErrorBytes-4)/2) + "…", boom},
		"an error and terminate": {tool(func(_ context.Context, _ *Invocation, out *ToolOutput[struct{}]) error {
			out.Terminate(true)
			return boom
		}), "boom", boom},
		"a panic": {tool(func(_ context.Context, _ *Invocation, out *ToolOutput[struct{}]) error {
			fmt.Fprint(out, "partial\n")
			panic("oh")
		}), "partial\nthe tool panicked: oh", new(PanicError)},
		"Goexit": {tool(func(context.Context, *Invocation, *ToolOutput[struct{}]) error {
			runtime.Goexit()
			return nil
		}), "the tool ended its goroutine", errGone},
		"details over the bound": {Define("tool", ToolOptions{}, func(_ context.Context, _ *Invocation, out *ToolOutput[string]) error {
			*out.Details() = strings.Repeat("x", MaxDetailsBytes)
			return nil
		}), "sink: 262146 bytes of JSON of details: an output holds at most 262144", new(BoundError)},
	} {
		t.Run(name, func(t *testing.T) {
			var w watcher
			r := NewRunner(Options{Emit: w.emit, Policy: allow})
			o, err := r.Run(t.Context(), c.tool, testCall)
			must(t, err)
			folded, err := w.view.Calls[0].State()
			must(t, err)
			if d := cmp.Diff(o.State, folded); d != "" {
				t.Errorf("the fold is not the result (-outcome +fold):\n%s", d)
			}
			if o.State.Text() != c.text || o.IsError != (c.err != nil) || w.view.Calls[0].IsError != o.IsError {
				t.Errorf("%.100q, error %t, want %.100q, %v", o.State.Text(), o.IsError, c.text, c.err)
			}
			if !isOrAs(o.Err, c.err) {
				t.Errorf("error %v, want %v", o.Err, c.err)
			}
			kinds := w.kinds()
			if kinds[0] != "tool_start" || kinds[1] != "tool_update" || kinds[len(kinds)-1] != "tool_end" {
				t.Errorf("events %v", kinds)
			}
			if name == "an error and terminate" && !o.State.Terminate {
				t.Error("a call that failed cannot terminate")
			}
		})
	}
}

// isOrAs reports whether err is want, or of its type when that is one of the two types.
func isOrAs(err, want error) bool {
	switch want.(type) {
	case *PanicError:
		target := (*PanicError)(nil)
		return errors.As(err, &target) && len(target.Stack) > 0
	case *BoundError:
		target := (*BoundError)(nil)
		return errors.As(err, &target)
	}
	return errors.Is(err, want)
}

// TestPace: updates come as limits.Publisher has it, and the last of them before the end.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var at []time.Duration
		w := watcher{on: func(e lane.Event) {
			if _, ok := e.(*lane.ToolUpdate); ok {
				at = append(at, time.Since(begin))
			}
		}}
		r := NewRunner(Options{Emit: w.emit, Policy: allow})
		_, err := r.Run(t.Context(), tool(func(_ context.Context, _ *Invocation, out *ToolOutput[struct{}]) error {
			for range 100 {
				time.Sleep(10 * time.Millisecond)
				fmt.Fprintln(out, "line")
			}
			return nil
		}), testCall)
		must(t, err)
		if len(at) < 11 || len(at) > 12 {
			t.Errorf("%d updates in a second, at %v, want the base, ten, and perhaps the last by itself", len(at), at)
		}
		for i := 2; i < len(at)-1; i++ {
			if d := at[i] - at[i-1]; d < 100*time.Millisecond {
				t.Errorf("update %d came %v after the one before", i, d)
			}
		}
	})
}

// TestDetailsArePublished: a change of the details is seen without any other call of the tool
// than Changed, and with one in that.
func TestDetailsArePublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watcher
		r := NewRunner(Options{Emit: w.emit, Policy: allow})
		passed := func() float64 {
			synctest.Wait()
			root := w.view.Calls[0].Output.(map[string]any)
			n, _ := root["details"].(map[string]any)["passed"].(float64)
			return n
		}
		_, err := r.Run(t.Context(), Define("tool", ToolOptions{}, func(_ context.Context, _ *Invocation, out *ToolOutput[testDetails]) error {
			time.Sleep(time.Second)
			out.Details().Passed = 1
			must(t, out.Changed())
			if got := passed(); got != 1 {
				t.Errorf("after Changed: %v", got)
			}
			time.Sleep(time.Second)
			out.Details().Passed = 2
			fmt.Fprintln(out, "line")
			if got := passed(); got != 2 {
				t.Errorf("after Write: %v", got)
			}
			out.Details().Passed = 3
			return nil
		}), testCall)
		must(t, err)
		if got := passed(); got != 3 {
			t.Errorf("at the end: %v", got)
		}
	})
}

// TestCancel: a call that is canceled keeps what it had written.
func TestCancel(t *testing.T) {
	waits := tool(func(ctx context.Context, _ *Invocation, out *ToolOutput[struct{}]) error {
		fmt.Fprintln(out, "partial")
		<-ctx.Done()
		return ctx.Err()
	})
	for name, cancel := range map[string]func(*Runner, context.CancelFunc) error{
		"by its ID":      func(r *Runner, _ context.CancelFunc) error { return r.Cancel(testCall.CallID) },
		"by its context": func(_ *Runner, cancel context.CancelFunc) error { cancel(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w watcher
				r := NewRunner(Options{Emit: w.emit, Policy: allow})
				ctx, cancelContext := context.WithCancel(t.Context())
				defer cancelContext()
				ended := make(chan *Outcome)
				go func() {
					o, _ := r.Run(ctx, waits, testCall)
					ended <- o
				}()
				synctest.Wait()
				if _, err := r.Run(ctx, waits, testCall); !errors.Is(err, ErrRunning) {
					t.Errorf("the same call again: %v, want ErrRunning", err)
				}
				must(t, cancel(r, cancelContext))
				if o := <-ended; !o.IsError || o.State.Text() != "partial\nThe call was canceled." {
					t.Errorf("%+v, %q", o, o.State.Text())
				}
				if err := r.Cancel(testCall.CallID); !errors.Is(err, ErrNotRunning) {
					t.Errorf("canceled again: %v, want ErrNotRunning", err)
				}
			})
		})
	}
}

// TestSteps: what a tool says of its steps is in the lane, and so are the calls made for it.
func TestSteps(t *testing.T) {
	var w watcher
	r := NewRunner(Options{Emit: w.emit, Policy: allow})
	_, err := r.Run(t.Context(), tool(func(ctx context.Context, inv *Invocation, _ *ToolOutput[struct{}]) error {
		end := inv.Step("look around")
		end(nil)
		end(errors.New("twice"))
		inv.Step("try")(errors.New("no"))
		child := Call{CallID: lane.CallID{Run: "run", Turn: "turn", ID: "child"}, Parent: "call"}
		if _, err := r.Run(ctx, tool(func(context.Context, *Invocation, *ToolOutput[struct{}]) error { return nil }), child); err != nil {
			return err
		}
		inv.Step("never ends")
		return nil
	}), testCall)
	must(t, err)
	a := w.view.Calls[0].Activity
	var got []string
	for _, s := range a.Steps {
		got = append(got, s.Title+" "+string(s.Status))
	}
	want := []string{"never ends stopped", "tool done", "try failed", "look around done"}
	if !slices.Equal(got, want) || a.TotalSteps != 4 || a.DoneSteps != 2 || a.FailedSteps != 1 || a.Status != lane.Done {
		t.Errorf("steps %q, %+v, want %q", got, a, want)
	}
}

// TestRefused: calls that cannot be run.
func TestRefused(t *testing.T) {
	r := NewRunner(Options{Policy: allow})
	works := tool(func(context.Context, *Invocation, *ToolOutput[struct{}]) error { return nil })
	for name, run := range map[string]func() error{
		"no tool": func() error { _, err := r.Run(t.Context(), Tool{}, testCall); return err },
		"no ID":   func() error { _, err := r.Run(t.Context(), works, Call{CallID: lane.CallID{Run: "x"}}); return err },
		"no JSON": func() error {
			_, err := r.Run(t.Context(), works, Call{CallID: testCall.CallID, Args: json.RawMessage("{")})
			return err
		},
		"unknown to the journal": func() error { _, err := r.Recover(testCall.CallID); return err },
	} {
		if err := run(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := r.Recover(testCall.CallID); !errors.Is(err, journal.ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

// TestArgs: the arguments reach the tool.
func TestArgs(t *testing.T) {
	r := NewRunner(Options{Policy: allow})
	for args, want := range map[string]string{`{"x":7,"y":1}`: "7", ``: "0", `[]`: "arguments of tool: json: cannot unmarshal array into Go value of type struct { X int }"} {
		o, err := r.Run(t.Context(), tool(func(_ context.Context, inv *Invocation, out *ToolOutput[struct{}]) error {
			var v struct{ X int }
			if err := inv.Args(&v); err != nil {
				return err
			}
			fmt.Fprint(out, v.X)
			return nil
		}), Call{CallID: testCall.CallID, Args: json.RawMessage(args)})
		must(t, err)
		if got := o.State.Text(); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}
