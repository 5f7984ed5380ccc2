//go:build linux

package test

// This file runs the real agent as a child, from start to a clean end.

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
)

// patience bounds every wait for something that must happen, however loaded the machine.
const patience = 30 * time.Second

// agent is a running execagent serve. startAgent makes it and ends it with the test.
type agent struct {
	addr     string
	spillDir string
	pid      int
	dead     bool // killed by the test

	cmd  *exec.Cmd
	said *said
	mark string // a variable that all processes below the agent have
}

// startAgent returns an agent that is ready. When the test ends the agent is asked to end, and
// must do so with status 0 and without leaving a process behind.
func startAgent(t testing.TB) *agent {
	t.Helper()
	return startAgentAs(t, func(*exec.Cmd) {})
}

// startAgentAs is startAgent with a say in how its process is made.
func startAgentAs(t testing.TB, adapt func(cmd *exec.Cmd)) *agent {
	t.Helper()
	dir := shortTempDir(t)
	a := &agent{
		addr:     "unix:" + filepath.Join(dir, "sock"),
		spillDir: filepath.Join(dir, "spill"),
		said:     &said{ready: make(chan struct{})},
		mark:     "E2E_MARK=" + rand.Text(),
	}
	a.cmd = exec.Command(execagentPath(), "serve", "--listen", a.addr, "--spill-dir", a.spillDir)
	a.cmd.Env = append(os.Environ(), a.mark)
	a.cmd.Stderr = a.said
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	adapt(a.cmd)
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.pid = a.cmd.Process.Pid
	t.Cleanup(func() { a.stop(t) })
	select {
	case <-a.said.ready:
	case <-time.After(patience):
		t.Fatalf("the agent is not ready after %v; it said %q", patience, a.said)
	}
	return a
}

func (a *agent) stop(t testing.TB) {
	if a.dead {
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- a.cmd.Wait() }()
	a.signal(t, syscall.SIGTERM)
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the agent ended with %v after SIGTERM, want status 0; it said:\n%s", err, a.said)
		}
	case <-time.After(patience):
		a.signal(t, syscall.SIGQUIT) // says where it hangs
		<-ended
		t.Errorf("the agent did not end within %v of SIGTERM; it said:\n%s", patience, a.said)
	}
	if left := a.commands(t); len(left) > 0 {
		t.Errorf("the agent left processes behind: %+v", left)
		kill(t, left)
	}
}

// commands returns the processes that the agent's commands are made of, however they have
// detached themselves.
func (a *agent) commands(t testing.TB) []process {
	t.Helper()
	return slices.DeleteFunc(marked(t, a.mark), func(p process) bool { return p.pid == a.pid })
}

func (a *agent) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := a.cmd.Process.Signal(s); err != nil {
		t.Errorf("sending %v to the agent: %v; it said:\n%s", s, err, a.said)
	}
}

// dial returns a connection that the test's end closes.
func (a *agent) dial(t testing.TB) *client.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := client.Dial(ctx, a.addr, client.Options{Software: "end-to-end test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// said is the standard error of an agent. The first of it says that it is ready.
type said struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready chan struct{}
	once  sync.Once
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if bytes.Contains(s.text.Bytes(), []byte("serving on ")) || bytes.Contains(s.text.Bytes(), []byte("connecting to ")) {
		s.once.Do(func() { close(s.ready) })
	}
	return len(p), nil
}

// after returns the first line's rest behind a text that was said.
func (s *said) after(t testing.TB, prefix string) string {
	t.Helper()
	_, rest, found := strings.Cut(s.String(), prefix)
	line, _, whole := strings.Cut(rest, "\n")
	if !found || !whole {
		t.Fatalf("said %q, want a line with %q", s, prefix)
	}
	return line
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shortTempDir is a temporary directory whose path has room for a socket's name: the kernel
// allows 108 bytes, and t.TempDir spends them on the test's name.
func shortTempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
