package lane

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/chord"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// about is what the events of the call of this ID begin with.
func about(id string, at int64) About { return About{CallID{"run", "turn", id}, at} }

// base is an update with a whole document.
func base(id, text string) *ToolUpdate {
	return &ToolUpdate{about(id, 2), []chord.Op{{Verb: chord.Replace, Value: map[string]any{
		"content":    []any{map[string]any{"type": "text", "text": text}},
		"source":     map[string]any{"executionId": "x1", "spillPath": "/spill/x1"},
		"truncation": map[string]any{},
	}}}}
}

// more is an update that appends.
func more(id, text string) *ToolUpdate {
	return &ToolUpdate{about(id, 3), []chord.Op{{Verb: chord.Append, Path: chord.P("content", 0, "text"), Text: text}}}
}

func fold(events ...Event) *View {
	v := new(View)
	for _, e := range events {
		Reduce(v, e)
	}
	return v
}

func text(t *testing.T, v *View, id string) string {
	t.Helper()
	s, err := v.Call(about(id, 0).CallID).State()
	if err != nil {
		t.Fatal(err)
	}
	return s.Text()
}

func TestReduce(t *testing.T) {
	v := fold(
		&ToolStart{about("a", 1), "", "bash", json.RawMessage(`{}`)},
		base("a", "one\n"),
		more("a", "two\n"),
		&ToolEnd{about("a", 1500), true},
	)
	c := v.Call(CallID{"run", "turn", "a"})
	if got, want := text(t, v, "a"), "one\ntwo\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	a := &c.Activity
	if !c.Ended || !c.IsError || c.Tool != "bash" || a.Status != Failed || a.ExecutionID != "x1" || a.SpillPath != "/spill/x1" {
		t.Errorf("%+v", c)
	}
	if got, want := a.Duration(time.UnixMilli(1e9)), 1499*time.Millisecond; got != want {
		t.Errorf("duration %v, want %v", got, want)
	}
}

// TestUnknown: an event for a call that was never seen, or has ended, changes nothing.
func TestUnknown(t *testing.T) {
	known := []Event{&ToolStart{about("a", 1), "", "bash", nil}, base("a", "x"), &ToolEnd{about("a", 2), false}}
	for _, id := range []string{"b", "a"} {
		v := fold(known...)
		for _, e := range []Event{
			base(id, "y"), more(id, "z"), &ToolEnd{about(id, 9), true}, &ToolStep{about(id, 9), "1", "step", StepRunning},
			&ApprovalRequested{about(id, 9), "", "1", "may I", ""}, &ApprovalResolved{about(id, 9), "1", Approved},
		} {
			Reduce(v, e)
		}
		if d := cmp.Diff(fold(known...), v); d != "" {
			t.Errorf("events for %q changed (-before +after):\n%s", id, d)
		}
	}
}

// TestStale: a change that does not fit leaves the output as it was, later ones too, until a base
// batch.
func TestStale(t *testing.T) {
	v := fold(&ToolStart{about("a", 1), "", "bash", nil}, more("a", "lost"))
	c := v.Calls[0]
	if c.Output != nil || c.Stale {
		t.Errorf("a change without a base made %v", c.Output)
	}
	Reduce(v, base("a", "one"))
	Reduce(v, &ToolUpdate{about("a", 2), []chord.Op{
		{Verb: chord.Append, Path: chord.P("content", 0, "text"), Text: "half"},
		{Verb: chord.Delete, Path: chord.P("nothing", "here")},
	}})
	Reduce(v, more("a", "two"))
	if got := text(t, v, "a"); got != "one" || !c.Stale {
		t.Errorf("text %q, stale %t, want it as it was and stale", got, c.Stale)
	}
	Reduce(v, base("a", "whole"))
	Reduce(v, more("a", "!"))
	if got := text(t, v, "a"); got != "whole!" || c.Stale {
		t.Errorf("text %q, stale %t after a base", got, c.Stale)
	}
}

// TestShared: two views of the same events, and a copy of one, do not change each other.
func TestShared(t *testing.T) {
	events := []Event{&ToolStart{about("a", 1), "", "bash", nil}, base("a", "one")}
	v, w := fold(events...), fold(events...)
	before := v.Calls[0].Output
	Reduce(v, more("a", "two"))
	Reduce(w, more("a", "three"))
	if got := text(t, v, "a") + " " + text(t, w, "a"); got != "onetwo onethree" {
		t.Errorf("got %q", got)
	}
	s, err := ReadState(before)
	if err != nil || s.Text() != "one" {
		t.Errorf("what was read before is now %+v, %v", s, err)
	}
}

// TestBase: a consumer that joins later goes on from a base that a host makes of its view.
func TestBase(t *testing.T) {
	start := &ToolStart{about("a", 1), "", "bash", nil}
	host := fold(start, base("a", "one"))
	late := fold(start, host.Calls[0].Base())
	for _, v := range []*View{host, late} {
		Reduce(v, more("a", "two"))
	}
	if d := cmp.Diff(host, late); d != "" {
		t.Errorf("(-host +late):\n%s", d)
	}
}

func TestAgain(t *testing.T) {
	v := fold(
		&ToolStart{about("a", 1), "", "bash", nil}, base("a", "one"),
		&ApprovalRequested{about("a", 2), "", "1", "may I", ""},
		&ToolStart{about("a", 100), "", "bash", nil}, // after a crash
	)
	c := v.Calls[0]
	if len(v.Calls) != 1 || c.Output != nil || c.Activity.Approval != nil || c.Activity.StartedAt != 100 {
		t.Errorf("%+v", c)
	}
}

// TestSteps: the newest are listed, all are counted, and those that run when the call ends are
// stopped.
func TestSteps(t *testing.T) {
	v := fold(&ToolStart{about("a", 1), "", "agent", nil})
	for i := range 50 {
		id := fmt.Sprint(i)
		Reduce(v, &ToolStep{about("a", 2), id, "step " + id, StepRunning})
		if i%10 == 9 {
			Reduce(v, &ToolStep{about("a", 3), id, "", StepFailed})
		} else if i > 1 && i != 48 {
			Reduce(v, &ToolStep{about("a", 3), id, "", StepDone})
		}
	}
	Reduce(v, &ToolStep{about("a", 3), "0", "", StepDone}) // long gone from the list
	a := &v.Calls[0].Activity
	if a.Step != "step 49" || a.TotalSteps != 50 || a.DoneSteps != 43 || a.FailedSteps != 5 || len(a.Steps) != MaxSteps {
		t.Errorf("%+v", a)
	}
	if s := a.Steps[0]; s.ID != "49" || s.Status != StepFailed || s.EndedAt != 3 {
		t.Errorf("the newest is %+v", s)
	}
	Reduce(v, &ToolEnd{about("a", 9), false})
	if s := a.Steps[1]; s.Status != StepStopped || s.EndedAt != 9 {
		t.Errorf("a step that ran at the end is %+v", s)
	}
}

// TestChildren: a call made for another is a step of that.
func TestChildren(t *testing.T) {
	v := fold(
		&ToolStart{about("parent", 1), "", "agent", nil},
		&ToolStart{about("child", 2), "parent", "bash", nil},
		&ToolStart{About{CallID{"other run", "turn", "stranger"}, 2}, "parent", "bash", nil},
	)
	a := &v.Calls[0].Activity
	if a.Step != "bash" || a.TotalSteps != 1 || a.Steps[0].Status != StepRunning {
		t.Errorf("while it runs: %+v", a)
	}
	Reduce(v, &ToolEnd{about("child", 3), true})
	if a.FailedSteps != 1 || a.Steps[0].Status != StepFailed {
		t.Errorf("after it failed: %+v", a)
	}
}

// TestApproval: a decision belongs to its call and its parent, and is gone when it is made or
// the call ends.
func TestApproval(t *testing.T) {
	ask := &ApprovalRequested{about("a", 5), "parent", "id1", strings.Repeat("é", MaxTitleBytes), "rm -rf build"}
	for name, end := range map[string]Event{
		"approved":  &ApprovalResolved{about("a", 6), "id1", Approved},
		"denied":    &ApprovalResolved{about("a", 6), "id1", Denied},
		"withdrawn": &ApprovalResolved{about("a", 6), "id1", Withdrawn},
		"ended":     &ToolEnd{about("a", 6), true},
	} {
		v := fold(&ToolStart{about("a", 1), "parent", "bash", nil}, ask, &ApprovalResolved{about("a", 6), "another", Approved})
		pending := v.Approvals()
		if len(pending) != 1 || v.Calls[0].Activity.Status != Waiting {
			t.Fatalf("%s: pending %+v", name, pending)
		}
		p := pending[0]
		if p.CallID != ask.CallID || p.Parent != "parent" || p.ID != "id1" || p.Since != 5 || len(p.Title) > MaxTitleBytes || !strings.HasSuffix(p.Title, "é…") {
			t.Errorf("%s: %+v", name, p)
		}
		Reduce(v, end)
		if len(v.Approvals()) != 0 || v.Calls[0].Activity.Status == Waiting {
			t.Errorf("%s: %+v is left", name, v.Calls[0].Activity)
		}
	}
}

// TestEndedAreDropped: a lane keeps what runs and the last that ended.
func TestEndedAreDropped(t *testing.T) {
	v := fold(&ToolStart{about("running", 1), "", "bash", nil})
	for i := range MaxEnded + 30 {
		Reduce(v, &ToolStart{about(fmt.Sprint(i), 1), "", "bash", nil})
		Reduce(v, &ToolEnd{about(fmt.Sprint(i), 1), false})
	}
	if len(v.Calls) != MaxEnded+1 || v.Dropped != 30 || v.Calls[0].ID != "running" || v.Calls[1].ID != "30" {
		t.Errorf("%d calls, %d dropped, the first %q and %q", len(v.Calls), v.Dropped, v.Calls[0].ID, v.Calls[1].ID)
	}
}

// TestTracked: a view is plain data, which a tracker follows to another process.
func TestTracked(t *testing.T) {
	var tracker chord.Tracker
	var replica chord.Replica
	v := new(View)
	for _, e := range []Event{
		&ToolStart{about("a", 1), "", "bash", json.RawMessage(`{"command":"make"}`)}, base("a", "one\n"), more("a", "two\n"),
		&ToolStep{about("a", 3), "1", "step", StepRunning}, &ToolEnd{about("a", 4), false},
	} {
		Reduce(v, e)
		ops, err := tracker.Flush(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := replica.Apply(ops); err != nil {
			t.Fatal(err)
		}
	}
	document, _ := replica.Value()
	raw, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	var got View
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(v, &got); d != "" {
		t.Errorf("(-view +replica):\n%s", d)
	}
}

// TestStrangeOutputs: documents that are no outputs are errors where they are read, and end
// nothing.
func TestStrangeOutputs(t *testing.T) {
	for _, document := range []any{
		nil, 1.0, "x", []any{}, map[string]any{}, map[string]any{"content": "x"}, map[string]any{"content": []any{}},
		map[string]any{"content": []any{map[string]any{"type": "image"}}},
		map[string]any{"content": []any{map[string]any{"type": "text"}, map[string]any{"type": "text"}}},
		map[string]any{"content": []any{map[string]any{"type": "text"}}, "source": []any{}},
	} {
		v := fold(&ToolStart{about("a", 1), "", "bash", nil}, &ToolUpdate{about("a", 2), []chord.Op{{Verb: chord.Replace, Value: document}}})
		if s, err := v.Calls[0].State(); err == nil {
			t.Errorf("%v is read as %+v", document, s)
		}
	}
}

// TestState: a state is its document, and back.
func TestState(t *testing.T) {
	want := &State{
		Content:    []Block{{Type: TextBlock, Text: "settled\n", Live: "not"}, {Type: ImageBlock, MIMEType: "image/png", Data: []byte{1, 2}}},
		Details:    json.RawMessage(`{"passed":1}`),
		Usage:      &Usage{Input: 1, Cost: 0.5},
		AddedTools: []string{"grep"},
		Terminate:  true,
		Source:     &Source{ExecutionID: "x"},
	}
	document, err := chord.Plain(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadState(document)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got.Text() != "settled\nnot" || new(State).Text() != "" {
		t.Errorf("text %q", got.Text())
	}
}
