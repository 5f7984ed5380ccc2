//go:build linux

package test

// This file is about starting: under an ID, in an environment, and being refused.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/google/go-cmp/cmp"
)

// One ID is one execution: the same spec finds it, running or settled, another is refused.
func TestStartTwice(t *testing.T) {
	a := startAgent(t)
	conn, other := a.dial(t), a.dial(t)
	release := filepath.Join(t.TempDir(), "release")
	spec := client.Spec{ID: "twice", Command: "echo begun; until [ -e " + release + " ]; do sleep 0.05; done; echo over"}
	first := start(t, conn, spec)
	if first.Started().Existing {
		t.Errorf("the first start found an existing execution: %+v", first.Started())
	}
	spec.Limits.MaxLines = limits.DefaultMaxLines // what it was anyway
	second := start(t, other, spec)
	if s := second.Started(); !s.Existing || s.PID != first.Started().PID {
		t.Errorf("the second start: %+v, want the existing process %d", s, first.Started().PID)
	}
	spec.Command += " "
	_, err := other.Start(context.Background(), spec)
	var failure *client.Failure
	if !errors.As(err, &failure) || failure.Code != protocol.CodeIDInUse || !strings.Contains(failure.Message, `"twice"`) {
		t.Errorf("another spec under the ID: %v, want a failure of code %s that names it", err, protocol.CodeIDInUse)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	outcomes := []*outcome{follow(t, first, limits.Limits{}, nil), follow(t, second, limits.Limits{}, nil)}
	spec.Command = spec.Command[:len(spec.Command)-1]
	third := start(t, other, spec)
	if !third.Started().Existing {
		t.Errorf("a start after the end: %+v, want the existing execution", third.Started())
	}
	outcomes = append(outcomes, follow(t, third, limits.Limits{}, nil))
	for i, o := range outcomes {
		if o.text() != "begun\nover\n" {
			t.Errorf("watcher %d: text %q, want %q", i, o.text(), "begun\nover\n")
		}
		if diff := cmp.Diff(outcomes[0].result, o.result); diff != "" {
			t.Errorf("watcher %d has another result than the first (-):\n%s", i, diff)
		}
	}
}

// What cannot be run is refused with an error that names it, and the agent goes on.
func TestRefusals(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	for _, c := range []struct {
		name string
		spec client.Spec
		code protocol.Code // of the agent's refusal; "" when the client already refuses
		says string
	}{
		{"missing cwd", client.Spec{Command: "true", Cwd: "/no/such/dir"}, protocol.CodeStartFailed, `"/no/such/dir"`},
		{"cwd is a file", client.Spec{Command: "true", Cwd: "/etc/passwd"}, protocol.CodeStartFailed, `"/etc/passwd"`},
		{"missing shell", client.Spec{Command: "true", Shell: "/no/such/shell"}, protocol.CodeStartFailed, `"/no/such/shell"`},
		{"unknown shell", client.Spec{Command: "true", Shell: "nosuchshell"}, protocol.CodeStartFailed, `"nosuchshell"`},
		{"shell is no program", client.Spec{Command: "true", Shell: "/etc/passwd"}, protocol.CodeStartFailed, `"/etc/passwd"`},
		{"no command", client.Spec{}, "", "command"},
		{"NUL in the command", client.Spec{Command: "echo \x00"}, "", "NUL byte at offset 5"},
		{"NUL in cwd", client.Spec{Command: "true", Cwd: "/\x00"}, "", "NUL byte"},
		{"NUL in a variable", client.Spec{Command: "true", Env: []string{"A=\x00"}}, "", "NUL byte"},
		{"no variable", client.Spec{Command: "true", Env: []string{"=x"}}, "", "NAME=VALUE"},
		{"negative bytes", client.Spec{Command: "true", Limits: limits.Limits{MaxBytes: -1}}, "", "maxBytes -1"},
		{"negative lines", client.Spec{Command: "true", Limits: limits.Limits{MaxLines: -1}}, "", "maxLines -1"},
		{"unknown end", client.Spec{Command: "true", Limits: limits.Limits{Retain: "tial"}}, "", `"tial"`},
		{"bad ID", client.Spec{ID: "../x", Command: "true"}, "", `"../x"`},
		{"negative timeout", client.Spec{Command: "true", Timeout: -1}, "", "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd, err := conn.Start(context.Background(), c.spec)
			if err == nil {
				t.Fatalf("it started: %+v", cmd.Started())
			}
			var failure *client.Failure
			if errors.As(err, &failure) != (c.code != "") || failure != nil && failure.Code != c.code {
				t.Errorf("error %v, want the agent's refusal of code %q", err, c.code)
			}
			if text := err.Error(); !strings.Contains(text, c.says) || strings.Contains(text, "\n") {
				t.Errorf("error %q, want one line that says %q", text, c.says)
			}
			if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
				t.Errorf("the next command printed %q, want %q", o.text(), "on\n")
			}
		})
	}
}

// A command finds what its spec says, and nothing of the agent's own.
func TestEnvironment(t *testing.T) {
	t.Setenv("EXECAGENT_SECRET", "of the agent")
	t.Setenv("E2E_INHERITED", "yes")
	a := startAgent(t)
	conn := a.dial(t)
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		spec client.Spec
		want string
	}{
		{"inherited", client.Spec{Command: "echo $E2E_INHERITED"}, "yes\n"},
		{"not the agent's own", client.Spec{Command: "echo ${EXECAGENT_SECRET-unset}"}, "unset\n"},
		{"plain", client.Spec{Command: "echo $TERM $NO_COLOR $PAGER $GIT_TERMINAL_PROMPT"}, "dumb 1 cat 0\n"},
		{"not plain", client.Spec{Command: "echo $NO_COLOR$GIT_PAGER.", EnvProfile: protocol.EnvNone}, ".\n"},
		{"clean", client.Spec{Command: "echo $E2E_INHERITED.", CleanEnv: true}, ".\n"},
		{"set", client.Spec{Command: "echo $A $TERM", Env: []string{"A=1", "A=2", "TERM=xterm"}}, "2 xterm\n"},
		{"cwd", client.Spec{Command: "pwd; echo $PWD", Cwd: dir}, dir + "\n" + dir + "\n"},
		{"shell", client.Spec{Command: "echo $0", Shell: "sh"}, "sh"},
		{"PTY", client.Spec{Command: "[ -t 1 ] && [ -t 2 ] && stty size <&1"}, "50 200\n"},
		{"pipe", client.Spec{Command: "[ -t 1 ] || [ -t 2 ] || echo pipe", Pipe: true}, "pipe\n"},
		{"no terminal to ask on", client.Spec{Command: "(: </dev/tty) 2>/dev/null || echo none"}, "none\n"},
		{"same pipe for errors", client.Spec{Command: "echo out; echo err >&2; echo out", Pipe: true}, "out\nerr\nout\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if o := run(t, conn, c.spec); !strings.HasSuffix(strings.TrimSuffix(o.text(), "\n"), strings.TrimSuffix(c.want, "\n")) {
				t.Errorf("%q printed %q, want %q", c.spec.Command, o.text(), c.want)
			}
		})
	}
}
