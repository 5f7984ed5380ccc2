package sink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/client/lane"
	"github.com/google/go-cmp/cmp"
)

// errCrash is what a test's tool panics with to leave a call as a crash would: see crashing.
var errCrash = errors.New("crash")

// crashing is a journal that is gone for a call from the moment its tool says so: what comes
// later is never written.
type crashing struct {
	journal.Journal
	crashed atomic.Bool
}

func (c *crashing) Append(key journal.Key, batch func() (journal.Batch, error)) error {
	if c.crashed.Load() {
		return errCrash
	}
	return c.Journal.Append(key, batch)
}

func (c *crashing) SetMemo(key journal.Key, name string, value []byte, base func() (journal.Batch, error)) error {
	if c.crashed.Load() {
		return errCrash
	}
	return c.Journal.SetMemo(key, name, value, base)
}

func (c *crashing) End(key journal.Key, end journal.End, batch func() (journal.Batch, error)) error {
	if c.crashed.Load() {
		return errCrash
	}
	return c.Journal.End(key, end, batch)
}

// live runs a call in a process of its own, which crashes when the tool calls crash, and returns what its
// consumers were told.
func live(t *testing.T, j journal.Journal, replaySafe bool, f func(inv *Invocation, out *ToolOutput[testDetails], crash func()) error) (*Outcome, *watcher) {
	t.Helper()
	c := &crashing{Journal: j}
	w := new(watcher)
	r := NewRunner(Options{Emit: w.emit, Policy: allow, Journal: c})
	o, err := r.Run(t.Context(), Define("tool", ToolOptions{ReplaySafe: replaySafe},
		func(_ context.Context, inv *Invocation, out *ToolOutput[testDetails]) error {
			return f(inv, out, func() { c.crashed.Store(true) })
		}), testCall)
	if err != nil && !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	return o, w
}

// TestReplay: a replay-safe tool goes on with the output and the memos that were durable, and
// nothing of either is discarded.
func TestReplay(t *testing.T) {
	j := openJournal(t)
	steps := func(crashAt int) func(*Invocation, *ToolOutput[testDetails], func()) error {
		return func(inv *Invocation, out *ToolOutput[testDetails], crash func()) error {
			for i := range 4 {
				name := fmt.Sprint("step ", i)
				if done, err := inv.Memo(name, nil); done || err != nil {
					continue
				}
				fmt.Fprintln(out, name)
				out.Details().Passed++
				out.Usage(lane.Usage{Input: 1})
				out.AddTools([]string{name})
				out.Image("image/png", []byte{byte(i)})
				if i == crashAt {
					crash()
				}
				if err := inv.SetMemo(name, i); err != nil && !errors.Is(err, errCrash) {
					return err
				}
			}
			return nil
		}
	}
	for _, crashAt := range []int{1, 3, -1} {
		live(t, j, true, steps(crashAt))
	}
	o, w := live(t, j, true, func(*Invocation, *ToolOutput[testDetails], func()) error {
		t.Error("a call that has ended is run again")
		return nil
	})
	s := o.State
	if s.Text() != "step 0\nstep 1\nstep 2\nstep 3\n" || o.IsError || o.Interrupted {
		t.Errorf("%+v, text %q", o, s.Text())
	}
	if len(s.Content) != 5 || s.Usage.Input != 4 || len(s.AddedTools) != 1 || !strings.Contains(string(s.Details), `"passed":4`) {
		t.Errorf("%d blocks, %+v, %v, %s", len(s.Content), s.Usage, s.AddedTools, s.Details)
	}
	folded, err := w.view.Calls[0].State()
	must(t, err)
	if d := cmp.Diff(s, folded); d != "" || !w.view.Calls[0].Ended {
		t.Errorf("told again otherwise (-outcome +fold):\n%s", d)
	}
}

// TestInterrupted: a tool that is not replay-safe, or is not any more, ends with what was
// durable and a mark; by Recover without the tool.
func TestInterrupted(t *testing.T) {
	writes := func(_ *Invocation, out *ToolOutput[testDetails], crash func()) error {
		fmt.Fprint(out, "partial, without an end")
		out.Details().Passed = 7
		return errors.Join(out.Changed(), func() error { crash(); return nil }())
	}
	again := func(*Invocation, *ToolOutput[testDetails], func()) error {
		t.Error("the tool is run again")
		return nil
	}
	for name, c := range map[string]struct {
		was bool
		end func(j *journal.Bolt) (*Outcome, *watcher)
	}{
		"not replay-safe":  {false, func(j *journal.Bolt) (*Outcome, *watcher) { return live(t, j, false, again) }},
		"was not":          {false, func(j *journal.Bolt) (*Outcome, *watcher) { return live(t, j, true, again) }},
		"is not any more":  {true, func(j *journal.Bolt) (*Outcome, *watcher) { return live(t, j, false, again) }},
		"the tool is gone": {true, func(j *journal.Bolt) (*Outcome, *watcher) { return recoverOnly(t, j) }},
		"its details are others": {true, func(j *journal.Bolt) (*Outcome, *watcher) {
			w := new(watcher)
			r := NewRunner(Options{Emit: w.emit, Policy: allow, Journal: j})
			o, err := r.Run(t.Context(), Define("tool", ToolOptions{ReplaySafe: true},
				func(context.Context, *Invocation, *ToolOutput[[]string]) error { return again(nil, nil, nil) }), testCall)
			must(t, err)
			return o, w
		}},
	} {
		t.Run(name, func(t *testing.T) {
			j := openJournal(t)
			live(t, j, c.was, func(inv *Invocation, out *ToolOutput[testDetails], crash func()) error {
				if err := writes(inv, out, func() {}); err != nil {
					return err
				}
				inv.out.flush()
				crash()
				return nil
			})
			for range 2 { // the second time it is told again
				o, w := c.end(j)
				want := "partial, without an end\n" + interruptionMark
				if o.State.Text() != want || !o.IsError || !strings.Contains(string(o.State.Details), `"passed":7`) {
					t.Errorf("%+v, %q, want %q", o, o.State.Text(), want)
				}
				if call := w.view.Calls[0]; !call.Ended || !call.IsError || call.Tool != "tool" || string(call.Args) != `{"x":1}` {
					t.Errorf("told as %+v", call)
				}
			}
		})
	}
}

func recoverOnly(t *testing.T, j journal.Journal) (*Outcome, *watcher) {
	t.Helper()
	w := new(watcher)
	o, err := NewRunner(Options{Emit: w.emit, Journal: j}).Recover(testCall.CallID)
	must(t, err)
	return o, w
}

// TestNothingDurable: a crash before the first batch leaves an empty output, and a mark.
func TestNothingDurable(t *testing.T) {
	j := openJournal(t)
	must(t, j.Begin(journal.Key(testCall.CallID), journal.Header{Tool: "tool"}))
	if o, _ := recoverOnly(t, j); o.State.Text() != interruptionMark || !o.Interrupted {
		t.Errorf("%+v, %q", o, o.State.Text())
	}
}

// TestOnce: of work within Once nothing is durable before it is done, and its consumers see it
// at once.
func TestOnce(t *testing.T) {
	j := openJournal(t)
	durable := func() string {
		r, err := j.Recover(journal.Key(testCall.CallID))
		must(t, err)
		s, err := lane.ReadState(r.Document)
		must(t, err)
		return s.Text()
	}
	attempts := 0
	run := func(crashes bool) (*Outcome, *watcher) {
		return live(t, j, true, func(inv *Invocation, out *ToolOutput[testDetails], crash func()) error {
			fmt.Fprintln(out, "begin")
			inv.out.flush()
			before := durable()
			return inv.Once("work", func() error {
				attempts++
				fmt.Fprintln(out, "work")
				inv.out.flush()
				if got := durable(); got != before {
					t.Errorf("durable is %q, before the work it was %q", got, before)
				}
				if crashes {
					crash()
				}
				return nil
			})
		})
	}
	if _, w := run(true); !strings.Contains(w.view.Calls[0].Output.(map[string]any)["content"].([]any)[0].(map[string]any)["text"].(string), "work\n") {
		t.Error("consumers have not seen the work")
	}
	o, _ := run(false)
	if got, want := o.State.Text(), "begin\nbegin\nwork\n"; got != want || attempts != 2 {
		t.Errorf("after the crash %q, want %q; %d attempts", got, want, attempts)
	}
	if got := durable(); got != o.State.Text() {
		t.Errorf("durable is %q", got)
	}
}

// TestOnceFails: work that fails sets no memo, and its output is kept.
func TestOnceFails(t *testing.T) {
	j := openJournal(t)
	boom := errors.New("boom")
	o, _ := live(t, j, true, func(inv *Invocation, out *ToolOutput[testDetails], _ func()) error {
		err := inv.Once("work", func() error { fmt.Fprintln(out, "half"); return boom })
		if done, _ := inv.Memo("work", nil); done || !errors.Is(err, boom) {
			t.Errorf("memo %t, error %v", done, err)
		}
		return err
	})
	r, err := j.Recover(journal.Key(testCall.CallID))
	must(t, err)
	s, err := lane.ReadState(r.Document)
	must(t, err)
	if s.Text() != "half\nboom" || len(r.Memos) != 0 || r.End == nil || !o.IsError {
		t.Errorf("durable is %q, memos %v, end %v", s.Text(), r.Memos, r.End)
	}
}

// TestWithinOnce: another memo, or another Once, within a Once is refused, and the work goes on.
func TestWithinOnce(t *testing.T) {
	j := openJournal(t)
	o, _ := live(t, j, true, func(inv *Invocation, out *ToolOutput[testDetails], _ func()) error {
		return inv.Once("outer", func() error {
			for name, err := range map[string]error{
				"SetMemo": inv.SetMemo("inner", 1), "Once": inv.Once("inner", func() error { return nil }),
			} {
				if !errors.Is(err, ErrWithinOnce) {
					t.Errorf("%s gives %v, want ErrWithinOnce", name, err)
				}
			}
			return nil
		})
	})
	r, err := j.Recover(journal.Key(testCall.CallID))
	must(t, err)
	if len(r.Memos) != 1 || o.IsError {
		t.Errorf("memos %v, %+v", r.Memos, o)
	}
}

// TestMemo: values come back, and nil takes one back; without a journal too.
func TestMemo(t *testing.T) {
	for _, j := range []journal.Journal{nil, openJournal(t)} {
		r := NewRunner(Options{Policy: allow, Journal: j})
		o, err := r.Run(t.Context(), tool(func(_ context.Context, inv *Invocation, out *ToolOutput[struct{}]) error {
			var got []string
			must(t, inv.SetMemo("m", []string{"a", "b"}))
			if ok, err := inv.Memo("m", &got); !ok || err != nil || len(got) != 2 {
				t.Errorf("got %v, %t, %v", got, ok, err)
			}
			var wrong int
			if _, err := inv.Memo("m", &wrong); err == nil {
				t.Error("a list is read as a number")
			}
			must(t, inv.SetMemo("m", nil))
			if ok, _ := inv.Memo("m", nil); ok {
				t.Error("a memo that was taken back is there")
			}
			if err := inv.SetMemo("m", func() {}); err == nil {
				t.Error("a function is a memo")
			}
			return nil
		}), testCall)
		must(t, err)
		if o.IsError {
			t.Errorf("%v", o.Err)
		}
	}
}

// TestFailingJournal: consumers get everything, and the next base makes up for what the journal
// missed; when not even the end can be written, Run says so.
func TestFailingJournal(t *testing.T) {
	j := openJournal(t)
	o, w := live(t, j, false, func(inv *Invocation, out *ToolOutput[testDetails], crash func()) error {
		c := inv.runner.options.Journal.(*crashing)
		fmt.Fprintln(out, "one")
		inv.out.flush()
		c.crashed.Store(true)
		fmt.Fprintln(out, "two")
		inv.out.flush()
		c.crashed.Store(false)
		fmt.Fprintln(out, "three")
		inv.out.flush()
		return nil
	})
	r, err := j.Recover(journal.Key(testCall.CallID))
	must(t, err)
	if d := cmp.Diff(w.view.Calls[0].Output, r.Document); d != "" || o.State.Text() != "one\ntwo\nthree\n" {
		t.Errorf("%q; (-fold +durable):\n%s", o.State.Text(), d)
	}
	must(t, j.Close())
	ran := false
	runner := NewRunner(Options{Policy: allow, Journal: j})
	other := testCall
	other.ID = "other"
	if _, err := runner.Run(t.Context(), tool(func(context.Context, *Invocation, *ToolOutput[struct{}]) error {
		ran = true
		return nil
	}), other); err == nil || ran {
		t.Errorf("with a closed journal: ran %t, %v", ran, err)
	}
}

// TestWaitingIsNotNoted: a call that waits for a decision is not in the journal, so that after a
// crash it is asked about again.
func TestWaitingIsNotNoted(t *testing.T) {
	j := openJournal(t)
	asked := 0
	var r *Runner
	r = NewRunner(Options{Journal: j, Emit: func(e lane.Event) {
		ask, ok := e.(*lane.ApprovalRequested)
		if !ok {
			return
		}
		asked++
		if _, err := j.Recover(journal.Key(testCall.CallID)); !errors.Is(err, journal.ErrUnknown) {
			t.Errorf("while it waits the journal says %v, want ErrUnknown", err)
		}
		must(t, r.Approve(ask.Approval))
	}})
	for range 2 { // the second time it is told again
		_, err := r.Run(t.Context(), tool(func(context.Context, *Invocation, *ToolOutput[struct{}]) error { return nil }), testCall)
		must(t, err)
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

// TestDeniedIsDurable: a call that was denied has ended, and is not asked about again.
func TestDeniedIsDurable(t *testing.T) {
	j := openJournal(t)
	for range 2 {
		w := new(watcher)
		r := NewRunner(Options{Emit: w.emit, Journal: j, Policy: func(string, Call) Verdict {
			if len(w.events) > 0 && w.view.Calls[0].Ended {
				t.Error("asked again")
			}
			return Refuse
		}})
		o, err := r.Run(t.Context(), tool(func(context.Context, *Invocation, *ToolOutput[struct{}]) error {
			t.Error("ran")
			return nil
		}), testCall)
		must(t, err)
		if !o.IsError || o.State.Text() != "denied: by policy" {
			t.Errorf("%+v, %q", o, o.State.Text())
		}
	}
}
