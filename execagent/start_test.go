//go:build linux

package execagent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/transport/protocol"
)

func TestArgv(t *testing.T) {
	a := newAgent(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"script $1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		spec protocol.Spec
		want string
	}{
		{"no shell reads it", protocol.Spec{Argv: []string{"echo", "$HOME", "a  b", ";"}}, "$HOME a  b ;\n"},
		{"by path", protocol.Spec{Argv: []string{script, "x y"}}, "script x y\n"},
		{"relative to the directory", protocol.Spec{Argv: []string{"./script", "z"}, Cwd: dir}, "script z\n"},
		{"in the command's own PATH", protocol.Spec{Argv: []string{"script", "p"}, Env: []string{"PATH=" + dir + ":/bin:/usr/bin"}}, "script p\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, text := outcome(t, begin(t, a, c.spec)); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
	for name, argv := range map[string][]string{"missing": {"no-such-program"}, "missing path": {"/no/such"}, "not a program": {"/etc/passwd"}} {
		if _, _, err := a.start(protocol.Spec{ID: "bad", Argv: argv}); code(err) != protocol.CodeStartFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLongCommand: a command over the kernel's limit for one argument runs all the same, and
// does not notice.
func TestLongCommand(t *testing.T) {
	a := newAgent(t)
	for _, shell := range []string{"bash", "sh"} {
		for _, size := range []int{maxArgument - 1, maxArgument, maxArgument + 1, 3*maxArgument + 5} {
			head, tail := "x='", "'; echo ${#x} $# \"[$*]\"; exit 3"
			filler := size - len(head) - len(tail)
			command := head + strings.Repeat("é\"", filler/3) + strings.Repeat("y", filler%3) + tail
			if len(command) != size {
				t.Fatalf("%d bytes, want %d", len(command), size)
			}
			r, text := outcome(t, begin(t, a, protocol.Spec{Command: command, Shell: shell, Env: []string{"LC_ALL=C"}}))
			if fields := strings.Fields(text); r.ExitCode != 3 || len(fields) != 3 || fields[1] != "0" || fields[2] != "[]" {
				t.Errorf("%s, %d bytes: exit %d, %q", shell, size, r.ExitCode, text)
			}
		}
	}
}

func TestStdinBytes(t *testing.T) {
	a := newAgent(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		input := strings.Repeat("0123456789abcde\n", 1<<16) // a MiB
		r, text := outcome(t, begin(t, a, protocol.Spec{Command: "wc -c", Pipe: pipe, Stdin: protocol.StdinBytes, StdinBytes: []byte(input)}))
		if r.ExitCode != 0 || strings.TrimSpace(text) != "1048576" {
			t.Errorf("%q, %+v", text, r)
		}
		// A command that does not read its input is not held up by it.
		if r, text = outcome(t, begin(t, a, protocol.Spec{Command: "echo no", Pipe: pipe, Stdin: protocol.StdinBytes, StdinBytes: []byte(input)})); text != "no\n" || r.ExitCode != 0 {
			t.Errorf("%q, %+v", text, r)
		}
	})
}

func TestUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run commands as another user")
	}
	a := newAgent(t)
	who := &protocol.User{UID: 65534, GID: 65534, Groups: []uint32{7}}
	bothModes(t, func(t *testing.T, pipe bool) {
		_, text := outcome(t, begin(t, a, protocol.Spec{Command: "id -u; id -g; id -G; echo x >/dev/fd/2", User: who, Pipe: pipe, Cwd: "/"}))
		if text != "65534\n65534\n65534 7\nx\n" {
			t.Errorf("got %q", text)
		}
	})
	dir := filepath.Join(t.TempDir(), "private")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.start(protocol.Spec{ID: "bad", Command: "true", User: who, Cwd: dir}); code(err) != protocol.CodeStartFailed || !strings.Contains(err.Error(), dir) {
		t.Errorf("a directory the user may not enter: %v", err)
	}
}

func TestRlimits(t *testing.T) {
	a := newAgent(t)
	_, text := outcome(t, begin(t, a, protocol.Spec{Command: "ulimit -Sn; ulimit -Hn; ulimit -c", Rlimits: map[string]protocol.Rlimit{
		"NOFILE": {Soft: 77, Hard: 99}, "CORE": {},
	}}))
	if text != "77\n99\n0\n" {
		t.Errorf("got %q", text)
	}
	r, _ := outcome(t, begin(t, a, protocol.Spec{Command: "while :; do :; done", Timeout: time.Minute, Rlimits: map[string]protocol.Rlimit{"CPU": {Soft: 1, Hard: 1}}}))
	if r.Reason != protocol.ReasonSignaled || r.Signal == nil || *r.Signal != "KILL" && *r.Signal != "XCPU" {
		t.Errorf("a second of CPU time: %+v", r)
	}
	for name, bad := range map[string]map[string]protocol.Rlimit{"name": {"WARP": {Soft: 1, Hard: 1}}} {
		if _, _, err := a.start(protocol.Spec{ID: "bad", Command: "true", Rlimits: bad}); code(err) != protocol.CodeStartFailed || !strings.Contains(err.Error(), "WARP") {
			t.Errorf("bad %s: %v", name, err)
		}
	}
}

// TestSplitStderr: view and spill hold both, and the end waits for both.
func TestSplitStderr(t *testing.T) {
	a := newAgent(t)
	e := begin(t, a, protocol.Spec{Command: "echo out; exec >&-; sleep 0.05; echo err >&2", Pipe: true, SplitStderr: true})
	if r, text := outcome(t, e); text != "out\nerr\n" || r.Truncation.TotalBytes != 8 {
		t.Errorf("%q, %+v", text, r)
	}
}

func TestInteractive(t *testing.T) {
	a := newAgent(t)
	start := func(command string) *execution {
		return begin(t, a, protocol.Spec{Command: command, Interactive: true, Columns: 90, Rows: 33, EnvProfile: protocol.EnvNone})
	}
	write := func(e *execution, s string) {
		t.Helper()
		if err := e.stdin.write(t.Context(), new(writer), 0, []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("a prompt and its answer", func(t *testing.T) {
		e := start(`read -p 'name? ' x; echo "[$x]"; test -t 0 && echo terminal; : </dev/tty && stty size`)
		until(t, e, func(text string) bool { return text == "name? " })
		write(e, "bob\n")
		if _, text := outcome(t, e); text != "name? bob\n[bob]\nterminal\n33 90\n" {
			t.Errorf("got %q", text)
		}
	})
	t.Run("Ctrl-C is a byte", func(t *testing.T) {
		e := start("echo on; exec sleep 600")
		until(t, e, func(text string) bool { return text == "on\n" })
		write(e, "\x03")
		if r, _ := outcome(t, e); r.Reason != protocol.ReasonSignaled || *r.Signal != "INT" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("Ctrl-D ends the input", func(t *testing.T) {
		e := start("cat; echo rc=$?")
		write(e, "a\n\x04")
		if _, text := outcome(t, e); text != "a\na\nrc=0\n" {
			t.Errorf("got %q", text)
		}
	})
	t.Run("resize", func(t *testing.T) {
		e := start(`trap 'stty size; exit 0' WINCH; echo on; while :; do sleep 0.01; done`)
		until(t, e, func(text string) bool { return text == "on\n" })
		for _, bad := range [][2]int{{0, 10}, {10, -1}, {100000, 10}} {
			if err := e.resize(bad[0], bad[1]); err == nil {
				t.Errorf("resized to %v", bad)
			}
		}
		if err := e.resize(120, 40); err != nil {
			t.Error(err)
		}
		if _, text := outcome(t, e); text != "on\n40 120\n" {
			t.Errorf("got %q", text)
		}
		if err := e.resize(120, 40); err == nil {
			t.Error("resized after the end")
		}
	})
	t.Run("signal by name", func(t *testing.T) {
		e := start(`trap 'echo got; exit 5' USR1; echo on; while :; do sleep 0.01; done`)
		until(t, e, func(text string) bool { return text == "on\n" })
		if err := e.signal("NOPE"); err == nil {
			t.Error("sent NOPE")
		}
		if err := e.signal("usr1"); err != nil {
			t.Error(err)
		}
		if r, text := outcome(t, e); r.ExitCode != 5 || !strings.HasSuffix(text, "got\n") {
			t.Errorf("%q, %+v", text, r)
		}
		if err := e.signal("TERM"); err == nil {
			t.Error("signalled after the end")
		}
	})
}

func TestParseSignal(t *testing.T) {
	for name, want := range map[string]int{"INT": 2, "SIGINT": 2, "int": 2, "sigkill": 9, "15": 15, "64": 64, "": 0, "0": 0, "-9": 0, "65": 0, "SIG": 0, "NOPE": 0} {
		got, ok := parseSignal(name)
		if ok != (want != 0) || ok && int(got) != want {
			t.Errorf("parseSignal(%q) = %d, %v, want %d", name, got, ok, want)
		}
	}
}
