//go:build linux

package test

// This file is about how commands end: by themselves, at their timeout, by a cancel.

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
)

// Exit codes are the shell's, with the signal's name beside them (C28).
func TestExitCodes(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		for _, c := range []struct {
			command string
			code    int
			signal  string
			text    string // part of the view
		}{
			{"true", 0, "", ""},
			{"exit 7", 7, "", ""},
			{"exit 300", 44, "", ""},
			{"echo part; kill -KILL $$", 137, "KILL", "part\n"},
			{"kill -SEGV $$", 139, "SEGV", ""},
			{"kill -TERM $$", 143, "TERM", ""},
			{"nosuchcmd", 127, "", "nosuchcmd"},
			{"/etc/passwd", 126, "", "/etc/passwd"},
			{"set -o pipefail; yes | head -1", 141, "", "y\n"},
		} {
			o := run(t, conn, client.Spec{Command: c.command, Pipe: pipe})
			signal, reason := "", protocol.ReasonExited
			if o.result.Signal != nil {
				signal = *o.result.Signal
			}
			if c.signal != "" {
				reason = protocol.ReasonSignaled
			}
			if o.result.ExitCode != c.code || signal != c.signal || o.result.Reason != reason || o.view.Signal != c.signal {
				t.Errorf("%q: exit code %d, signal %q (%q in the view), reason %s, want %d, %q, %s",
					c.command, o.result.ExitCode, signal, o.view.Signal, o.result.Reason, c.code, c.signal, reason)
			}
			if !strings.Contains(o.text(), c.text) {
				t.Errorf("%q: text %q, want %q in it", c.command, o.text(), c.text)
			}
			if o.result.Seconds > 5 {
				t.Errorf("%q: %.1f s, want it at once", c.command, o.result.Seconds)
			}
		}
	})
}

// What a command printed before its timeout is all there (C08).
func TestTimeoutKeepsTheOutput(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	raw := append(seq(1, 5000), "no-newline-tail"...)
	w := wantView(raw, raw, limits.Limits{})
	bothModes(t, func(t *testing.T, pipe bool) {
		o := run(t, conn, client.Spec{Command: "seq 1 5000; printf 'no-newline-tail'; sleep 60", Timeout: time.Second, Pipe: pipe})
		checkEnded(t, o, protocol.ReasonTimeout, "TERM")
		checkWant(t, o, w)
		if got := spilled(t, o.result); string(got) != string(raw) {
			t.Errorf("the spill has %d bytes, want the %d that were printed", len(got), len(raw))
		}
		if left := a.commands(t); len(left) > 0 {
			t.Errorf("still alive: %+v", left)
		}
	})
}

// stubborn ignores SIGTERM, as does its child, and says when it is ready.
const stubborn = `trap '' TERM; (while :; do sleep 600; done) & echo ready; while :; do sleep 0.1; done`

const shortGrace = 300 * time.Millisecond

// After the grace the whole process group is killed, children that ignore SIGTERM too.
func TestTimeoutKillsTheGroup(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		const timeout = time.Second
		o := run(t, conn, client.Spec{Command: stubborn, Timeout: timeout, Grace: shortGrace, Pipe: pipe})
		checkEnded(t, o, protocol.ReasonTimeout, "KILL")
		if least := (timeout + shortGrace).Seconds(); o.result.Seconds < least {
			t.Errorf("ended after %.2f s, before timeout and grace of %.2f", o.result.Seconds, least)
		}
		if left := a.commands(t); len(left) > 0 {
			t.Errorf("still alive: %+v", left)
		}
	})
}

// A cancel does the same, whoever asks for it and how.
func TestCancelKillsTheGroup(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	cancels := map[string]func(t *testing.T, cmd *client.Command, stop func()){
		"request": func(t *testing.T, cmd *client.Command, _ func()) { cancel(t, conn, cmd.ID()) },
		"another connection": func(t *testing.T, cmd *client.Command, _ func()) {
			cancel(t, a.dial(t), cmd.ID())
		},
		"context": func(_ *testing.T, _ *client.Command, stop func()) { stop() },
	}
	for name, ask := range cancels {
		t.Run(name, func(t *testing.T) {
			bothModes(t, func(t *testing.T, pipe bool) {
				ctx, stop := context.WithTimeout(context.Background(), patience)
				defer stop()
				cmd, err := conn.Start(ctx, client.Spec{Command: stubborn, Grace: shortGrace, Pipe: pipe})
				if err != nil {
					t.Fatal(err)
				}
				once := sync.OnceFunc(func() { ask(t, cmd, stop) })
				o := follow(t, cmd, limits.Limits{}, func(v client.View) {
					if v.Text == "ready\n" {
						once()
					}
				})
				checkEnded(t, o, protocol.ReasonCanceled, "KILL")
				if left := a.commands(t); len(left) > 0 {
					t.Errorf("still alive: %+v", left)
				}
			})
		})
	}
}

// A context that ends while its command is being started leaves nothing behind.
func TestCancelWhileStarting(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if cmd, err := conn.Start(ctx, client.Spec{Command: "sleep 600"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Start with an ended context = %v, %v, want context.Canceled", cmd, err)
	}
	eventually(t, "nothing runs", func() bool { return len(a.commands(t)) == 0 })
	if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
		t.Errorf("the next command printed %q, want %q", o.text(), "on\n")
	}
}

// Cancels that nobody needs do no harm: of the unknown, of the settled, and several of one whose
// leader has exited while something out of their reach goes on printing.
func TestNeedlessCancels(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	var failure *client.Failure
	if err := conn.Cancel(ctx, "nobody"); !errors.As(err, &failure) || failure.Code != protocol.CodeUnknownID {
		t.Errorf("canceling an unknown ID: %v, want a failure of code %s", err, protocol.CodeUnknownID)
	}
	o := run(t, conn, client.Spec{ID: "done", Command: "true"})
	checkExit(t, o, 0)
	cancel(t, conn, "done")

	cmd := start(t, conn, client.Spec{
		Command: `setsid sh -c 'while :; do echo t; sleep 0.05; done' & sleep 0.3; echo early`,
		Grace:   time.Millisecond,
	})
	once := sync.OnceFunc(func() {
		for range 50 {
			cancel(t, conn, cmd.ID())
		}
	})
	o = follow(t, cmd, limits.Limits{}, func(v client.View) {
		if v.State == protocol.Exited {
			once()
		}
	})
	if o.result.Reason != protocol.ReasonExited || o.result.ExitCode != 0 {
		t.Errorf("reason %s, exit code %d, want exited, 0: it had exited before the cancel", o.result.Reason, o.result.ExitCode)
	}
	kill(t, a.commands(t))
	if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
		t.Errorf("the next command printed %q, want %q", o.text(), "on\n")
	}
}

// cancel asks for the end of an execution.
func cancel(t testing.TB, conn *client.Conn, id string) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if err := conn.Cancel(ctx, id); err != nil {
		t.Errorf("canceling %s: %v", id, err)
	}
}

// checkEnded checks that the agent ended the command, for this reason and by this signal.
func checkEnded(t testing.TB, o *outcome, reason protocol.Reason, signal string) {
	t.Helper()
	code := map[string]int{"TERM": 143, "KILL": 137}[signal]
	r := o.result
	if r.Reason != reason || r.ExitCode != code || r.Signal == nil || *r.Signal != signal {
		t.Errorf("reason %q, exit code %d, signal %v, want %s, %d, %s", r.Reason, r.ExitCode, r.Signal, reason, code, signal)
	}
	if r.Seconds > 20 {
		t.Errorf("ended after %.1f s, want soon", r.Seconds)
	}
	if slices.ContainsFunc(r.Leftovers, func(p protocol.Process) bool { return alive(p.PID) }) {
		t.Errorf("leftovers %+v, want none", r.Leftovers)
	}
}
