//go:build linux

package proctree

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// helperVar names what a re-executed test binary does instead of testing.
const helperVar = "PROCTREE_HELPER"

var helpers = map[string]func(args []string) int{}

func runHelper(name string) {
	f, ok := helpers[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no helper %q\n", name)
		os.Exit(99)
	}
	os.Exit(f(os.Args[1:]))
}

// methods runs f with both.
func methods(t *testing.T, f func(t *testing.T, m *Manager)) {
	t.Helper()
	for _, method := range []Method{MethodCgroup, MethodWalk} {
		t.Run(string(method), func(t *testing.T) { f(t, manager(t, method, true)) })
	}
}

func manager(t testing.TB, method Method, subreaper bool) *Manager {
	t.Helper()
	m, err := New(Options{Instance: instance(), Method: method, Subreaper: subreaper})
	if err != nil {
		if method == MethodCgroup {
			t.Skip("cgroups cannot be tested here:", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error("Close:", err)
		}
	})
	return m
}

// command is a started leader.
type command struct {
	*Tree
	t   testing.TB
	pid int
	out *os.File // what it and its descendants print
}

// start runs argv as the agent would: in a session of its own, its output in a pipe, its stdin
// at its end once Started has returned.
func start(t testing.TB, m *Manager, id string, env []string, argv ...string) *command {
	t.Helper()
	tree, err := m.NewTree(id, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	attr := &syscall.SysProcAttr{Setsid: true}
	environ := tree.Configure(attr, append(os.Environ(), env...))
	gate, opener, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	defer opener.Close()
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: environ, Sys: attr, Files: []uintptr{gate.Fd(), w.Fd(), w.Fd()},
	})
	if err != nil {
		t.Fatalf("start %q: %v", argv, err)
	}
	tree.Started(pid)
	c := &command{tree, t, pid, r}
	t.Cleanup(c.cleanup)
	return c
}

// shell runs a script once Started has returned: what a leader leaves before that, with neither
// session, parent nor environment, is not found.
func shell(t testing.TB, m *Manager, id, script string) *command {
	t.Helper()
	return eager(t, m, id, "read -r _; "+script)
}

// eager does not wait.
func eager(t testing.TB, m *Manager, id, script string) *command {
	t.Helper()
	return start(t, m, id, nil, "/bin/bash", "-c", script)
}

func (c *command) cleanup() {
	ctx, cancel := deadline()
	defer cancel()
	if left := c.Kill(ctx); len(left) > 0 {
		c.t.Errorf("after the test's kill %v is alive", left)
	}
	c.reap()
	c.Release()
	c.out.Close()
}

// awaitExit blocks until the leader has ended and leaves it a zombie.
func (c *command) awaitExit() {
	c.t.Helper()
	for {
		err := unix.Waitid(unix.P_PID, c.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			return
		}
		if err != unix.EINTR {
			c.t.Fatal("waitid:", err)
		}
	}
}

// reap waits for the leader once.
func (c *command) reap() (ws unix.WaitStatus) {
	if c.reaped {
		return
	}
	for {
		_, err := unix.Wait4(c.pid, &ws, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			c.t.Errorf("wait4 of leader %d: %v", c.pid, err)
		}
		c.LeaderReaped()
		return ws
	}
}

// await polls until ok, for facts that nothing announces.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(time.Millisecond)
	}
}

// patience is far more than anything here takes on a loaded machine.
const patience = 30 * time.Second

// living lists the whole system's living processes that have the word in their command line,
// found without the package's help.
func living(word string) []string { return commandLines(word, false) }

// sleeping lists those that are `sleep WORD`.
func sleeping(word string) []string { return commandLines(word, true) }

func commandLines(word string, sleeps bool) []string {
	dirs, _ := os.ReadDir("/proc")
	var found []string
	for _, d := range dirs {
		text, err := os.ReadFile("/proc/" + d.Name() + "/cmdline")
		if err != nil {
			continue
		}
		args := strings.Split(string(text), "\x00")
		if sleeps && args[0] != "sleep" {
			continue
		}
		if slices.Contains(args, word) {
			found = append(found, d.Name()+" "+strings.Join(args, " "))
		}
	}
	return found
}

func deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

// instance differs between runs of the tests at the same time: who shares a cookie is killed
// together.
func instance() string { return fmt.Sprintf("test-%d", os.Getpid()) }
