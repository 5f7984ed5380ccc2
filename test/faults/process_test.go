//go:build linux

package faults

// This file is case C23, with real programs: a client that is killed, and what its command does
// then.

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
)

// programs builds execagent and execctl and returns where they are.
func programs(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "../../cmd/execagent", "../../cmd/execctl")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // static, as they are shipped
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	return dir
}

// serve runs execagent until the test ends, and returns its socket and process.
func serve(t testing.TB, bin string) (socket string, pid int) {
	t.Helper()
	dir, err := os.MkdirTemp("", "faults-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "sock")
	return socket, serveAt(t, bin, socket).Pid
}

// serveAt is serve at a socket. It is no error for the agent to be killed.
func serveAt(t testing.TB, bin, socket string) *os.Process {
	t.Helper()
	agent := exec.Command(filepath.Join(bin, "execagent"), "serve", "--listen", "unix:"+socket, "--spill-dir", filepath.Join(filepath.Dir(socket), "spill"))
	var said bytes.Buffer
	agent.Stderr = &said
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = agent.Process.Signal(syscall.SIGTERM) // unless the test has killed it
		err := agent.Wait()
		if status := agent.ProcessState.Sys().(syscall.WaitStatus); err != nil && !status.Signaled() {
			t.Errorf("the agent: %v; it said:\n%s", err, &said)
		}
	})
	eventually(t, "the agent serves", func() bool {
		return exec.Command(filepath.Join(bin, "execagent"), "status", "--health", "unix:"+socket).Run() == nil
	})
	return agent.Process
}

// TestRestartedAgent: an agent that was killed and started again is not mistaken for the old one.
// What that ran has an unknown outcome, and the connection goes on with the new one.
func TestRestartedAgent(t *testing.T) {
	t.Parallel()
	bin, dir := programs(t), t.TempDir()
	socket, err := os.MkdirTemp("", "faults-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(socket) })
	socket = filepath.Join(socket, "sock")
	old := serveAt(t, bin, socket)
	p := NewProxy("unix", socket)
	t.Cleanup(p.Close)
	conn := dial(t, p, client.Options{Reconnect: patience})
	release := filepath.Join(dir, "release")
	cmd := begun(t, conn, "echo begun; until [ -e "+release+" ]; do sleep 0.05; done; touch "+release+".seen")
	if err := old.Kill(); err != nil {
		t.Fatal(err)
	}
	serveAt(t, bin, socket)
	r, err := cmd.Wait()
	lost := (*client.LostError)(nil)
	if r != nil || !errors.As(err, &lost) || !errors.Is(err, client.ErrAgentRestarted) || lost.State != protocol.Running {
		t.Errorf("%+v, %v: want a LostError by ErrAgentRestarted of a running command", r, err)
	} else if lost.Found == nil || lost.Found.ID != cmd.ID() {
		t.Errorf("found of it: %+v, want what was written down", lost.Found)
	}
	if got := outcomeOf(t, conn, client.Spec{Command: "exit 7"}); got.Result.ExitCode != 7 {
		t.Errorf("on the new one: %+v", got.Result)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil { // the old one's command is still there
		t.Fatal(err)
	}
	eventually(t, "it ends", func() bool { _, err := os.Stat(release + ".seen"); return err == nil })
}

// TestKilledClient is case C23.
func TestKilledClient(t *testing.T) {
	t.Parallel()
	bin := programs(t)
	socket, _ := serve(t, bin)
	pause, grace := time.Second, 500*time.Millisecond
	if full {
		pause, grace = 2*time.Minute, 5*time.Second
	}
	p := NewProxy("unix", socket)
	t.Cleanup(p.Close)
	conn := dial(t, p, client.Options{})
	summary := func(id string) *client.Summary {
		list, err := conn.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Executions {
			if e.ID == id {
				return &e
			}
		}
		return nil
	}
	for how, flags := range map[string][]string{
		"keep": nil,
		"kill": {"--on-disconnect", "kill", "--disconnect-grace", grace.String()},
	} {
		args := append([]string{"run", "--addr", "unix:" + socket, "--id", how}, flags...)
		run := exec.Command(filepath.Join(bin, "execctl"), append(args, "--", "sleep 900 & sleep 900.5")...)
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the command is followed", func() bool { s := summary(how); return s != nil && s.Watchers == 1 })
		if err := run.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = run.Wait() // it was killed
		eventually(t, "nobody follows it", func() bool { return summary(how).Watchers == 0 })
	}
	time.Sleep(pause) // the case's own: it is to be there so much later
	if s := summary("keep"); s.State != protocol.Running {
		t.Errorf("keep: %+v, want it running", s)
	}
	cmd, err := conn.Attach(t.Context(), "keep")
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err := cmd.Wait(); err != nil || r.Reason != protocol.ReasonCanceled || len(r.Leftovers) > 0 {
		t.Errorf("keep: %+v, %v, want it canceled whole", r, err)
	}
	eventually(t, "the other has ended", func() bool { return summary("kill").State == protocol.Settled })
	eventually(t, "nothing of them is alive", func() bool { return !running("sleep900") && !running("sleep900.5") })
}

// running reports whether a process with this command line, without the zeros, is alive.
func running(line string) bool {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		b, _ := os.ReadFile(path)
		if strings.ReplaceAll(string(b), "\x00", "") == line {
			return true
		}
	}
	return false
}

// memory returns the resident bytes of a process and its threads.
func memory(t testing.TB, pid int) (bytes int64, threads int) {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		switch fields[0] {
		case "VmRSS:":
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			bytes = kib << 10
		case "Threads:":
			if threads, err = strconv.Atoi(fields[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return bytes, threads
}
