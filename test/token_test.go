//go:build linux

package test

// This file looks for the token wherever a command could see it.

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/execagent/execagent/client"
)

// dialAs is dial with options.
func (a *agent) dialAs(t testing.TB, opts client.Options) *client.Conn {
	t.Helper()
	conn, err := client.Dial(t.Context(), a.addr, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// sources are the ways to give the agent its token.
var sources = []struct {
	name string
	give func(t *testing.T, cmd *exec.Cmd, s secret)
	// everywhere is whether the token may be in the agent's own environment: for who may trace it.
	everywhere bool
}{
	{"file", func(t *testing.T, cmd *exec.Cmd, s secret) {
		cmd.Args = append(cmd.Args, "--token-file", s.path, "--token-once")
	}, false},
	{"descriptor", func(t *testing.T, cmd *exec.Cmd, s secret) {
		f, err := os.Open(s.path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		cmd.ExtraFiles = []*os.File{f}
		cmd.Args = append(cmd.Args, "--token-fd", "3")
	}, false},
	{"file in environment", func(t *testing.T, cmd *exec.Cmd, s secret) {
		cmd.Env = append(cmd.Env, "EXECAGENT_TOKEN_FILE="+s.path)
	}, false},
	{"environment", func(t *testing.T, cmd *exec.Cmd, s secret) {
		cmd.Env = append(cmd.Env, "EXECAGENT_TOKEN="+s.text)
	}, true},
}

func TestNoCommandSeesTheToken(t *testing.T) {
	t.Parallel()
	for _, source := range sources {
		t.Run(source.name, func(t *testing.T) {
			s := newSecret(t)
			a := startAgentAs(t, func(cmd *exec.Cmd) { source.give(t, cmd, s) })
			if _, err := os.Stat(s.path); (err != nil) != (source.name == "file") {
				t.Errorf("the token's file afterwards: %v", err)
			}
			if _, err := client.Dial(t.Context(), a.addr, client.Options{}); err == nil || !strings.Contains(err.Error(), "asks for a token") {
				t.Errorf("without the token: %v", err)
			}
			conn := a.dialAs(t, client.Options{Token: s.token(t)})
			for what, command := range map[string]string{
				"environment":         "env",
				"inherited variables": "env | grep ^EXECAGENT_TOKEN; true",
				"arguments":           "tr '\\0' ' ' < /proc/$$/cmdline; tr '\\0' ' ' < /proc/$PPID/cmdline",
				"descriptors":         "ls -l /proc/self/fd; cat /proc/self/fd/[3-9] 2>&1; true",
				"all that is shown":   "cat /proc/[0-9]*/cmdline | tr '\\0' ' '",
			} {
				o := run(t, conn, client.Spec{Command: command})
				if strings.Contains(o.text(), s.text) || what == "inherited variables" && o.text() != "" {
					t.Errorf("%s: the command sees %q", what, o.text())
				}
			}
			checkAgentShows(t, a, s, source.everywhere)
		})
	}
}

// checkAgentShows looks at the agent as root may.
func checkAgentShows(t *testing.T, a *agent, s secret, inEnviron bool) {
	t.Helper()
	for _, name := range []string{"environ", "cmdline"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", a.pid, name))
		if os.IsPermission(err) {
			continue // better still
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), s.text) != (inEnviron && name == "environ") {
			t.Errorf("/proc/PID/%s shows the token: %v", name, !inEnviron)
		}
	}
	if open := openFiles(t, a.pid); open[s.path] != 0 {
		t.Errorf("the token's file is still open: %v", open)
	}
}

// TestSameUserCannotLook lets a command of the agent's own user, without root's rights, look into
// the agent.
func TestSameUserCannotLook(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	const nobody = 65534
	s := newSecret(t)
	for _, with := range []bool{true, false} {
		a := startAgentAs(t, func(cmd *exec.Cmd) {
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
			cmd.Args = slices.Clone(cmd.Args)
			if err := os.Chmod(binDir, 0o755); err != nil {
				t.Fatal(err)
			}
			dir := strings.TrimSuffix(strings.TrimPrefix(cmd.Args[3], "unix:"), "/sock")
			if err := os.Chown(dir, nobody, nobody); err != nil {
				t.Fatal(err)
			}
			if with {
				cmd.Env = append(cmd.Env, "EXECAGENT_TOKEN="+s.text)
			}
		})
		var opts client.Options
		if with {
			opts.Token = s.token(t)
		}
		conn := a.dialAs(t, opts)
		look := fmt.Sprintf("cat /proc/%d/environ >/dev/null && echo environ; head -c 0 /proc/%[1]d/mem && echo mem; ls /proc/%[1]d/fd && echo fd", a.pid)
		o := run(t, conn, client.Spec{Command: "id -u; (" + look + ") 2>/dev/null"})
		if got, want := o.text(), "65534\n"; (got == want) != with || !strings.HasPrefix(got, want) {
			t.Errorf("with a token: %v: the command sees %q", with, got)
		}
	}
}
