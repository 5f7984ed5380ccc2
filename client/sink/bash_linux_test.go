package sink

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/client/embed"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/google/go-cmp/cmp"
)

// agent is an agent in this process.
func agent(t *testing.T) *embed.Conn {
	t.Helper()
	conn, err := embed.Dial(t.Context(), embed.Options{SpillDir: filepath.Join(t.TempDir(), "spill")})
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// bash runs a command by the ready tool, and checks that what consumers folded is the outcome.
func bash(t *testing.T, conn Starter, spec client.Spec, args BashArgs) (*Outcome, *lane.Call) {
	t.Helper()
	raw, err := json.Marshal(args)
	must(t, err)
	w := new(watcher)
	r := NewRunner(Options{Emit: w.emit, Policy: allow})
	o, err := r.Run(t.Context(), Bash(conn, spec), Call{CallID: testCall.CallID, Args: raw})
	must(t, err)
	folded, err := w.view.Calls[0].State()
	must(t, err)
	if d := cmp.Diff(o.State, folded); d != "" {
		t.Errorf("(-outcome +fold):\n%s", d)
	}
	return o, w.view.Calls[0]
}

func TestBash(t *testing.T) {
	conn := agent(t)
	for _, c := range []struct {
		name string
		spec client.Spec
		args BashArgs
		text string
		err  string
	}{
		{"well", client.Spec{}, BashArgs{Command: "echo one; printf two"}, "one\ntwo", ""},
		{"nothing", client.Spec{}, BashArgs{Command: "true"}, "", ""},
		{"an exit code", client.Spec{}, BashArgs{Command: "echo partial; exit 3"}, "partial\nThe command exited with code 3.", "The command exited with code 3."},
		{"a signal", client.Spec{}, BashArgs{Command: "kill -KILL $$"}, "The command was killed by SIGKILL (exit code 137).", "The command was killed by SIGKILL (exit code 137)."},
		{"no command", client.Spec{}, BashArgs{}, "the arguments have no command", "the arguments have no command"},
		{"a bad timeout", client.Spec{}, BashArgs{Command: "true", Timeout: -1}, "a timeout of -1 seconds: give 0 or more", "a timeout of -1 seconds: give 0 or more"},
	} {
		o, call := bash(t, conn, c.spec, c.args)
		if o.State.Text() != c.text || o.IsError != (c.err != "") || o.Err != nil && o.Err.Error() != c.err {
			t.Errorf("%s: %q, %v, want %q, %q", c.name, o.State.Text(), o.Err, c.text, c.err)
		}
		if strings.HasPrefix(c.args.Command, "echo") && call.Activity.ExecutionID == "" {
			t.Errorf("%s: the card does not say where the detail is: %+v", c.name, call.Activity)
		}
	}
}

// TestBashFooter: what is not shown is named, and is in the file that the footer names.
func TestBashFooter(t *testing.T) {
	conn := agent(t)
	for _, retain := range []limits.Retain{limits.RetainTail, limits.RetainHead} {
		o, call := bash(t, conn, client.Spec{Limits: limits.Limits{MaxLines: 3, Retain: retain}}, BashArgs{Command: "seq 1 1000; exit 1"})
		path := call.Activity.SpillPath
		want := fmt.Sprintf("998\n999\n1000\n[Showing lines 998–1000 of 1000 (limit: 3 lines). Complete output: %s]\nThe command exited with code 1.", path)
		if retain == limits.RetainHead {
			want = fmt.Sprintf("1\n2\n3\n[Showing lines 1–3 of 1000 (limit: 3 lines). Complete output: %s]\nThe command exited with code 1.", path)
		}
		if o.State.Text() != want {
			t.Errorf("%s: %q, want %q", retain, o.State.Text(), want)
		}
		if all, err := os.ReadFile(path); err != nil || len(all) != 3893 {
			t.Errorf("%s: the file has %d bytes, %v", retain, len(all), err)
		}
		if tr := o.State.Truncation; !tr.Truncated || tr.TotalBytes != 3893 || tr.TotalLines != 1000 {
			t.Errorf("%s: %+v", retain, tr)
		}
		var details BashDetails
		if err := json.Unmarshal(o.State.Details, &details); err != nil || details.ExitCode == nil || *details.ExitCode != 1 || details.Reason != protocol.ReasonExited {
			t.Errorf("%s: details %s, %v", retain, o.State.Details, err)
		}
	}
}

// TestExitError is what the model reads of a command that did not end well.
func TestExitError(t *testing.T) {
	kill := "KILL"
	for want, r := range map[string]*client.Result{
		"The command exited with code 3.":                                                                  {Reason: protocol.ReasonExited, ExitCode: 3},
		"The command was killed by SIGKILL (exit code 137).":                                               {Reason: protocol.ReasonSignaled, ExitCode: 137, Signal: &kill},
		"The command was killed by SIG? (exit code 137).":                                                  {Reason: protocol.ReasonSignaled, ExitCode: 137},
		"The command was ended at its timeout, after 2.0 seconds.":                                         {Reason: protocol.ReasonTimeout, Seconds: 2},
		"The command was canceled.":                                                                        {Reason: protocol.ReasonCanceled},
		"The command was ended because its complete output could not be kept.":                             {Reason: protocol.ReasonSpillFailed},
		"The agent that ran the command ended; whether the command goes on, and how it ended, is unknown.": {Reason: protocol.ReasonAgentLost, ExitCode: 125},
	} {
		if got := (&ExitError{r}).Error(); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// TestFooter: the limit that bound the text, and what is left of the rest.
func TestFooter(t *testing.T) {
	byBytes := limits.ByBytes
	r := client.Result{Truncation: limits.Truncation{Truncated: true, TruncatedBy: &byBytes, TotalLines: 9, FirstLine: 9, OutputLines: 1, LastLinePartial: true, MaxBytes: 100}, LastLineBytes: 500}
	for want, change := range map[string]func(*client.Result){
		"[Showing lines 9–9 of 9, the last of which has 500 bytes and is cut (limit: 100 bytes). The complete output was not kept]": func(*client.Result) {},
		"[Showing lines 9–9 of 9, the last of which has 500 bytes and is cut (limit: 100 bytes). Complete output: /x]":              func(r *client.Result) { r.SpillPath = "/x" },
		"[Showing lines 9–9 of 9, the last of which has 500 bytes and is cut (limit: 100 bytes). The first 7 bytes of it: /x]": func(r *client.Result) {
			r.SpillPath, r.SpillError = "/x", &protocol.SpillError{SafeBytes: 7}
		},
		"[Showing none of 9 lines (limit: 100 bytes). The complete output was not kept]": func(r *client.Result) {
			r.Truncation.OutputLines, r.Truncation.LastLinePartial = 0, false
		},
	} {
		r := r
		change(&r)
		if got := footer(&r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestBashTimeout: a command that takes too long is ended, and what it printed stays.
func TestBashTimeout(t *testing.T) {
	o, _ := bash(t, agent(t), client.Spec{}, BashArgs{Command: "echo partial; sleep 600", Timeout: 0.2})
	exit := (*ExitError)(nil)
	if !errors.As(o.Err, &exit) || exit.Result.Reason != protocol.ReasonTimeout || !strings.HasPrefix(o.State.Text(), "partial\nThe command was ended at its timeout, after 0.") {
		t.Errorf("%v, %q", o.Err, o.State.Text())
	}
}

// TestBashCanceled: a call that is canceled ends its command.
func TestBashCanceled(t *testing.T) {
	conn := agent(t)
	w := new(watcher)
	r := NewRunner(Options{Emit: w.emit, Policy: allow})
	w.on = func(e lane.Event) {
		if s, err := w.view.Calls[0].State(); err == nil && s.Text() == "partial\n" {
			_ = r.Cancel(e.Of())
		}
	}
	o, err := r.Run(t.Context(), Bash(conn, client.Spec{}), Call{CallID: testCall.CallID, Args: json.RawMessage(`{"command":"echo partial; sleep 600"}`)})
	must(t, err)
	if o.State.Text() != "partial\nThe command was canceled." {
		t.Errorf("%q, %v", o.State.Text(), o.Err)
	}
	l, err := conn.List(t.Context())
	must(t, err)
	for _, e := range l.Executions {
		if e.State != protocol.Settled {
			t.Errorf("%q still runs", e.Command)
		}
	}
}

// TestBashLost: a connection that breaks is an error, which is not an exit; what had come stays.
func TestBashLost(t *testing.T) {
	conn := agent(t)
	w := new(watcher)
	r := NewRunner(Options{Emit: w.emit, Policy: allow})
	seen := make(chan struct{})
	w.on = func(lane.Event) {
		if s, err := w.view.Calls[0].State(); err == nil && s.Text() == "partial\n" && seen != nil {
			close(seen)
			seen = nil
		}
	}
	cut := make(chan struct{})
	go func(seen chan struct{}) {
		defer close(cut)
		<-seen
		conn.Conn.Close()
	}(seen)
	o, err := r.Run(t.Context(), Bash(conn, client.Spec{}), Call{CallID: testCall.CallID, Args: json.RawMessage(`{"command":"echo partial; sleep 600"}`)})
	must(t, err)
	<-cut
	if lost := (*client.LostError)(nil); !errors.As(o.Err, &lost) || !strings.HasPrefix(o.State.Text(), "partial\nclient: connection lost") {
		t.Errorf("%v, %q", o.Err, o.State.Text())
	}
}

// TestPipeIsTheView: a command's view and what is beside it in the output are the same,
// while it runs and at the end.
func TestPipeIsTheView(t *testing.T) {
	conn := agent(t)
	l := limits.Limits{MaxBytes: 1000}
	out, err := New[struct{}](l)
	must(t, err)
	fmt.Fprintln(out, "before")
	cmd, err := conn.Start(t.Context(), client.Spec{Limits: out.Limits(), Command: `for i in $(seq 1 30); do printf 'working %d%%\r' $i; seq 1 $i; sleep 0.02; done; printf end`})
	must(t, err)
	var replica lane.View
	out.changed = func(limits.Change) {
		out.mu.Lock()
		ops := out.flush()
		out.mu.Unlock()
		lane.Reduce(&replica, &lane.ToolUpdate{About: lane.About{CallID: testCall.CallID}, Ops: ops})
		v := cmd.View()
		if s, err := replica.Calls[0].State(); err != nil || !strings.HasSuffix(s.Text(), v.Text+v.Live) || v.Truncation.TotalBytes > 0 && !s.Truncation.Equal(v.Truncation) {
			t.Errorf("%+v, %v, want the view %+v", s, err, v)
		}
	}
	lane.Reduce(&replica, &lane.ToolStart{About: lane.About{CallID: testCall.CallID}})
	r, err := out.Pipe(cmd)
	must(t, err)
	if r.ExitCode != 0 || !strings.HasSuffix(textOf(t, out.Output), "30\nend") {
		t.Errorf("%+v, %q", r, textOf(t, out.Output))
	}
}

// TestRefusedStart: an agent's refusal is the call's error.
func TestRefusedStart(t *testing.T) {
	o, _ := bash(t, agent(t), client.Spec{Cwd: "/no/such/directory"}, BashArgs{Command: "true"})
	refusal := (*client.Failure)(nil)
	if !errors.As(o.Err, &refusal) || !strings.Contains(o.State.Text(), "/no/such/directory") {
		t.Errorf("%v, %q", o.Err, o.State.Text())
	}
}
