package client_test

import (
	"strings"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
)

func TestSignal(t *testing.T) {
	conn := dial(t)
	for _, name := range []string{"USR1", "SIGUSR1", "usr1", "10"} {
		cmd := start(t, conn, client.Spec{Command: `trap 'echo got it; exit 9' USR1; echo ready; while :; do sleep 0.01; done`})
		awaitText(t, cmd, "ready")
		if err := cmd.Signal(t.Context(), name); err != nil {
			t.Fatalf("signal %s: %v", name, err)
		}
		if r := wait(t, cmd); r.ExitCode != 9 || !strings.HasSuffix(cmd.View().Text, "got it\n") {
			t.Errorf("signal %s: exit %d, text %q", name, r.ExitCode, cmd.View().Text)
		}
		wantFailure(t, "after the end", cmd.Signal(t.Context(), name), protocol.CodeEnded)
	}
	cmd := start(t, conn, client.Spec{Command: "sleep 600"})
	for _, name := range []string{"", "SIG", "SIGSIGINT", "NOPE", "0", "-1", "65", "99999999999999999999", strings.Repeat("x", 1000)} {
		wantFailure(t, "signal "+name, cmd.Signal(t.Context(), name), protocol.CodeBadSignal)
	}
	wantFailure(t, "an unknown ID", conn.Signal(t.Context(), "nobody", "INT"), protocol.CodeUnknownID)
	if err := cmd.Signal(t.Context(), "KILL"); err != nil {
		t.Fatal(err)
	}
	if r := wait(t, cmd); r.Reason != protocol.ReasonSignaled || r.ExitCode != 137 {
		t.Errorf("after KILL: %+v", r)
	}
}

func TestResize(t *testing.T) {
	conn := dial(t)
	cmd := start(t, conn, client.Spec{Interactive: true, Columns: 100, Rows: 30, Shell: "bash",
		Command: `trap 'stty size; exit 0' WINCH; stty size; while :; do sleep 0.01; done`})
	awaitText(t, cmd, "30 100")
	for _, bad := range [][2]int{{0, 10}, {10, 0}, {-1, 10}, {protocol.MaxColumns + 1, 10}, {10, protocol.MaxRows + 1}, {1 << 40, 10}} {
		wantFailure(t, "a bad size", cmd.Resize(t.Context(), bad[0], bad[1]), protocol.CodeBadSize)
	}
	if err := cmd.Resize(t.Context(), 123, 45); err != nil {
		t.Fatal(err)
	}
	if r := wait(t, cmd); r.ExitCode != 0 || cmd.View().Text != "30 100\n45 123\n" {
		t.Errorf("exit %d, text %q", r.ExitCode, cmd.View().Text)
	}
	wantFailure(t, "after the end", cmd.Resize(t.Context(), 80, 25), protocol.CodeEnded)
	wantFailure(t, "an unknown ID", conn.Resize(t.Context(), "nobody", 80, 25), protocol.CodeUnknownID)
	piped := start(t, conn, client.Spec{Pipe: true, Command: "sleep 600"})
	wantFailure(t, "a pipe", piped.Resize(t.Context(), 80, 25), protocol.CodeNoTerminal)
}

func TestList(t *testing.T) {
	conn := dial(t)
	list := func() []client.Summary {
		t.Helper()
		l, err := conn.List(t.Context())
		if err != nil || l.Omitted != 0 {
			t.Fatalf("%+v, %v", l, err)
		}
		return l.Executions
	}
	if got := list(); len(got) != 0 {
		t.Errorf("a new agent lists %+v", got)
	}
	done := start(t, conn, client.Spec{ID: "done", Command: "printf 12345; exit 3"})
	wait(t, done)
	running := start(t, conn, client.Spec{ID: "running", Interactive: true, Argv: []string{"sh", "-c", "echo ready; sleep 600 # " + strings.Repeat("é", 200)}})
	awaitText(t, running, "ready")
	late := start(t, conn, client.Spec{ID: "killed", Command: "kill -9 $$"})
	wait(t, late)

	all := list()
	if len(all) != 3 || all[0].ID != "running" || all[1].ID != "killed" || all[2].ID != "done" {
		t.Fatalf("%+v, want running, killed, done", all)
	}
	r := all[0]
	if r.State != protocol.Running || r.PID != running.Started().PID || !r.Interactive || r.Watchers != 1 ||
		r.TotalBytes != 7 || r.ExitCode != nil || r.Seconds <= 0 || r.Command != protocol.Shorten(r.Command) ||
		!strings.HasPrefix(r.Command, "sh -c echo ready; sleep 600 # éé") || !strings.HasSuffix(r.Command, "é…") {
		t.Errorf("running: %+v", r)
	}
	if k := all[1]; k.ExitCode == nil || *k.ExitCode != 137 || k.Signal != "KILL" {
		t.Errorf("killed: %+v", k)
	}
	if d := all[2]; d.State != protocol.Settled || d.ExitCode == nil || *d.ExitCode != 3 || d.Signal != "" || d.TotalBytes != 5 || d.Watchers != 0 || d.Command != "printf 12345; exit 3" {
		t.Errorf("done: %+v", d)
	}
}
