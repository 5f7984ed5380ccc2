//go:build linux

package execagent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"golang.org/x/sys/unix"
)

// newAgent returns an agent that the test's end closes, with a private spill directory.
func newAgent(t testing.TB) *Agent {
	t.Helper()
	a, err := New(Options{SpillDir: filepath.Join(t.TempDir(), "spill")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("closing the agent: %v", err)
		}
	})
	return a
}

var ids = 0

// begin starts a command.
func begin(t testing.TB, a *Agent, spec protocol.Spec) *execution {
	t.Helper()
	if spec.ID == "" {
		ids++
		spec.ID = fmt.Sprintf("test-%d", ids)
	}
	e, _, err := a.start(spec)
	if err != nil {
		t.Fatalf("starting %q: %v", spec.Command, err)
	}
	return e
}

// outcome waits for the result and returns it with the final text.
func outcome(t testing.TB, e *execution) (protocol.Result, string) {
	t.Helper()
	select {
	case <-e.settled:
	case <-time.After(time.Minute):
		t.Fatalf("%q does not settle", e.spec.Command)
	}
	e.out.mu.Lock() // watchers may still be sent it
	defer e.out.mu.Unlock()
	text, live := e.out.window.Text()
	return e.result, text + live
}

// bothModes runs a test under a PTY and with a pipe.
func bothModes(t *testing.T, f func(t *testing.T, pipe bool)) {
	t.Run("pty", func(t *testing.T) { f(t, false) })
	t.Run("pipe", func(t *testing.T) { f(t, true) })
}

// until waits for a publisher's changes until the execution's view satisfies ok.
func until(t *testing.T, e *execution, ok func(text string) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p := limits.NewPublisher()
	e.watch(p)
	defer e.unwatch(p)
	p.Changed(limits.Urgent)
	for {
		if err := p.Next(ctx); err != nil {
			t.Fatalf("%q never came to show it", e.spec.Command)
		}
		e.out.mu.Lock()
		text, live := e.out.window.Text()
		e.out.mu.Unlock()
		if ok(text + live) {
			return
		}
	}
}

func TestExitStatus(t *testing.T) {
	a := newAgent(t)
	for _, c := range []struct {
		command string
		code    int
		signal  string
		reason  protocol.Reason
	}{
		{"true", 0, "", protocol.ReasonExited},
		{"exit 7", 7, "", protocol.ReasonExited},
		{"exit 300", 44, "", protocol.ReasonExited},
		{"nosuchcmd", 127, "", protocol.ReasonExited},
		{"/etc/passwd", 126, "", protocol.ReasonExited},
		{"echo part; kill -KILL $$", 137, "KILL", protocol.ReasonSignaled},
		{"kill -SEGV $$", 139, "SEGV", protocol.ReasonSignaled},
		{"set -o pipefail; yes | head -1", 141, "", protocol.ReasonExited},
	} {
		bothModes(t, func(t *testing.T, pipe bool) {
			r, text := outcome(t, begin(t, a, protocol.Spec{Command: c.command, Pipe: pipe, Shell: "bash"}))
			signal := ""
			if r.Signal != nil {
				signal = *r.Signal
			}
			if r.ExitCode != c.code || signal != c.signal || r.Reason != c.reason {
				t.Errorf("%q: code %d, signal %q, reason %s, text %q; want %d, %q, %s", c.command, r.ExitCode, signal, r.Reason, text, c.code, c.signal, c.reason)
			}
		})
	}
}

// TestCommandSurroundings: what a command that is not interactive finds around it.
func TestCommandSurroundings(t *testing.T) {
	a := newAgent(t)
	for _, c := range []struct {
		name, command, pty, pipe string
	}{
		{"a terminal as stdout", "test -t 1 && echo yes || echo no", "yes\n", "no\n"},
		{"a terminal as stderr", "test -t 2 && echo yes || echo no", "yes\n", "no\n"},
		{"an empty stdin", "cat; echo rc=$?", "rc=0\n", "rc=0\n"},
		{"no controlling terminal", "(: </dev/tty) 2>/dev/null || echo none", "none\n", "none\n"},
		{"no output processing", `printf 'a\nb\r\n' | cat -v; printf 'x\n'`, "a\nb^M\nx\n", "a\nb^M\nx\n"},
		{"stderr in order with stdout", "echo 1; echo 2 >&2; echo 3", "1\n2\n3\n", "1\n2\n3\n"},
		{"the terminal's size", "stty size </dev/fd/1 2>/dev/null || echo none", "50 200\n", "none\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bothModes(t, func(t *testing.T, pipe bool) {
				want := c.pty
				if pipe {
					want = c.pipe
				}
				if _, text := outcome(t, begin(t, a, protocol.Spec{Command: c.command, Pipe: pipe})); text != want {
					t.Errorf("%q: got %q, want %q", c.command, text, want)
				}
			})
		})
	}
}

// TestOutputWhileRunning: output is read while the command runs, not at its end.
func TestOutputWhileRunning(t *testing.T) {
	a := newAgent(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		e := begin(t, a, protocol.Spec{Command: "printf 'name? '; sleep 600", Pipe: pipe})
		until(t, e, func(text string) bool { return text == "name? " })
		e.end(protocol.ReasonCanceled)
		if r, _ := outcome(t, e); r.Reason != protocol.ReasonCanceled || r.ExitCode != 143 {
			t.Errorf("canceled: %+v", r)
		}
	})
}

// TestIdleExecutions: waiting executions cost no threads, and once they have ended neither
// descriptors nor goroutines.
func TestIdleExecutions(t *testing.T) {
	a := newAgent(t)
	const n = 200
	outcome(t, begin(t, a, protocol.Spec{Command: "echo ready"}))
	awaitSpare(t, a, protocol.Spec{})
	files, goroutines := descriptors(t), runtime.NumGoroutine()
	before := threads(t)
	var all []*execution
	for range n {
		all = append(all, begin(t, a, protocol.Spec{Command: "echo ready; exec sleep 600"}))
	}
	for _, e := range all {
		until(t, e, func(text string) bool { return text == "ready\n" })
	}
	if after := threads(t); after-before > 40 {
		t.Errorf("%d idle executions take %d threads", n, after-before)
	}
	for _, e := range all {
		e.end(protocol.ReasonCanceled)
	}
	for _, e := range all {
		outcome(t, e)
	}
	awaitDescriptors(t, files)
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before %d executions, %d a minute after", goroutines, n, runtime.NumGoroutine())
		}
	}
}

func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

// TestLeftovers: a process that outlives the leader and holds the output delays the result
// only for a moment, is listed, lives, and what it prints later is kept.
func TestLeftovers(t *testing.T) {
	a := newAgent(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		gate := filepath.Join(t.TempDir(), "gate")
		if err := syscall.Mkfifo(gate, 0o600); err != nil {
			t.Fatal(err)
		}
		e := begin(t, a, protocol.Spec{Command: fmt.Sprintf("(read x <%s; echo late) & echo early", gate), Pipe: pipe})
		r, text := outcome(t, e)
		if text != "early\n" || r.ExitCode != 0 {
			t.Errorf("text %q, %+v", text, r)
		}
		if len(r.Leftovers) != 1 || r.Leftovers[0].PID == 0 {
			t.Fatalf("leftovers %+v, want the subshell", r.Leftovers)
		}
		if err := os.WriteFile(gate, []byte("go\n"), 0); err != nil { // it is alive: it reads
			t.Fatal(err)
		}
		<-e.pumps.done()
		kept, err := os.ReadFile(r.SpillPath)
		if err != nil || string(kept) != "early\nlate\n" {
			t.Errorf("spill %q, %v", kept, err)
		}
	})
}

// TestChatteringLeftover: endless output of a leftover cannot hold the result back for long.
func TestChatteringLeftover(t *testing.T) {
	a := newAgent(t)
	e := begin(t, a, protocol.Spec{Command: "(while :; do echo t; sleep 0.02; done) & echo early"})
	r, text := outcome(t, e)
	if !strings.HasPrefix(text, "early\n") && !strings.Contains(text, "\nearly\n") {
		t.Errorf("text %q", text)
	}
	if r.Seconds > 20 || len(r.Leftovers) == 0 {
		t.Errorf("settled after %.1f s with leftovers %v", r.Seconds, r.Leftovers)
	}
	for _, p := range r.Leftovers {
		_ = syscall.Kill(p.PID, syscall.SIGKILL)
	}
	<-e.pumps.done()
}

// TestTimeout: the group is asked to end, and killed after the grace if it does not.
func TestTimeout(t *testing.T) {
	a := newAgent(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		for _, c := range []struct {
			command string
			code    int
			signal  string
		}{
			{"seq 1 5000; printf no-newline-tail; sleep 600", 143, "TERM"},
			{"trap '' TERM; printf no-newline-tail; sleep 600 & while :; do sleep 1; done", 137, "KILL"},
			{"printf no-newline-tail; kill -STOP $$", 143, "TERM"},
		} {
			r, text := outcome(t, begin(t, a, protocol.Spec{
				Command: c.command, Pipe: pipe, Timeout: 500 * time.Millisecond, Grace: 300 * time.Millisecond,
			}))
			if r.Reason != protocol.ReasonTimeout || r.ExitCode != c.code || r.Signal == nil || *r.Signal != c.signal {
				t.Errorf("%q: %+v, want timeout by %s", c.command, r, c.signal)
			}
			if !strings.HasSuffix(text, "no-newline-tail") {
				t.Errorf("%q: the tail %.60q is lost", c.command, text)
			}
			if len(r.Leftovers) > 0 {
				t.Errorf("%q: alive after the kill: %v", c.command, r.Leftovers)
			}
		}
	})
}

func TestStdin(t *testing.T) {
	a := newAgent(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		e := begin(t, a, protocol.Spec{Command: "cat; echo end", Stdin: protocol.StdinPipe, Pipe: pipe})
		if err := e.stdin.write(t.Context(), new(writer), 0, []byte("input\n")); err != nil {
			t.Fatal(err)
		}
		e.stdin.close()
		e.stdin.close()
		if _, text := outcome(t, e); text != "input\nend\n" {
			t.Errorf("got %q", text)
		}
		if err := e.stdin.write(t.Context(), new(writer), 0, []byte("more")); err == nil {
			t.Error("input after the end is taken")
		}
	})
	t.Run("a blocked write ends with the command", func(t *testing.T) {
		e := begin(t, a, protocol.Spec{Command: "sleep 600", Stdin: protocol.StdinPipe})
		done := make(chan error)
		go func() { done <- e.stdin.write(t.Context(), new(writer), 0, make([]byte, 4<<20)) }()
		e.end(protocol.ReasonCanceled)
		if err := <-done; err == nil {
			t.Error("4 MiB went into a command that reads nothing")
		}
		outcome(t, e)
	})
	t.Run("a client after one that left", func(t *testing.T) {
		gate := filepath.Join(t.TempDir(), "gate")
		if err := syscall.Mkfifo(gate, 0o600); err != nil {
			t.Fatal(err)
		}
		e := begin(t, a, protocol.Spec{Command: "read x <" + gate + "; tail -c 3", Stdin: protocol.StdinPipe})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- e.stdin.write(ctx, new(writer), 0, make([]byte, 4<<20)) }()
		cancel()
		if err := <-done; err == nil {
			t.Error("4 MiB went into a command that reads nothing")
		}
		if err := os.WriteFile(gate, []byte("go\n"), 0); err != nil {
			t.Fatal(err)
		}
		if err := e.stdin.write(t.Context(), new(writer), 0, []byte("end")); err != nil {
			t.Error(err)
		}
		e.stdin.close()
		if _, text := outcome(t, e); text != "end" {
			t.Errorf("got %q", text)
		}
	})
}

func TestRegistry(t *testing.T) {
	a := newAgent(t)
	spec := protocol.Spec{ID: "one", Command: "sleep 600"}
	e := begin(t, a, spec)
	if again, existing, err := a.start(spec); err != nil || !existing || again != e {
		t.Errorf("the same spec again: %v, existing %v", err, existing)
	}
	spec.Command = "echo other"
	if _, _, err := a.start(spec); code(err) != protocol.CodeIDInUse {
		t.Errorf("another spec under the same id: %v", err)
	}
	if _, err := a.find("two"); code(err) != protocol.CodeUnknownID {
		t.Errorf("an unknown id: %v", err)
	}
	for name, bad := range map[string]protocol.Spec{
		"cwd":   {ID: "bad", Command: "true", Cwd: "/no/such/dir"},
		"shell": {ID: "bad", Command: "true", Shell: "/no/such/shell"},
		"size":  {ID: "bad", Command: "true " + strings.Repeat("x", 3<<20)},
	} {
		if _, _, err := a.start(bad); code(err) != protocol.CodeStartFailed {
			t.Errorf("bad %s: %v", name, err)
		}
	}
	if _, _, err := a.start(protocol.Spec{ID: "nul", Command: "a\x00b"}); code(err) != protocol.CodeBadSpec {
		t.Errorf("a NUL byte: %v", err)
	}
	begin(t, a, protocol.Spec{ID: "bad", Command: "true"}) // a failed start leaves its id free
}

func code(err error) protocol.Code {
	if f := (*protocol.Failure)(nil); errors.As(err, &f) {
		return f.Code
	}
	return ""
}

// TestRetention: a settled execution is forgotten in time.
func TestRetention(t *testing.T) {
	a, err := New(Options{SpillDir: t.TempDir(), Retention: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	e := begin(t, a, protocol.Spec{ID: "brief", Command: "true"})
	outcome(t, e)
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err := a.find("brief"); code(err) == protocol.CodeUnknownID {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it is still there")
		}
	}
}

// TestRoom: of settled executions the text is forgotten, the oldest first, when they hold too
// much; what they left running is still drained.
func TestRoom(t *testing.T) {
	a := newAgent(t)
	m := mark()
	first := begin(t, a, protocol.Spec{Command: "sleep " + m + " & seq 1 100000"})
	outcome(t, first)
	defer func() { kill(started(t, m, 1)) }()
	const each = 4 << 20
	for i := range maxSettled / each {
		if _, err := a.find(first.spec.ID); err != nil {
			t.Fatalf("forgotten after %d others: %v", i, err)
		}
		outcome(t, begin(t, a, protocol.Spec{Command: "head -c 5000000 /dev/zero | tr '\\0' x", Pipe: true, Limits: limits.Limits{MaxBytes: each}}))
	}
	switch again, err := a.find(first.spec.ID); {
	case again == first:
		t.Error("the oldest is still held")
	case err != nil || again.result.Truncation.TotalLines != 100_000 || again.result.SpillPath == "":
		t.Errorf("the oldest as its manifest has it: %+v, %v, want 100000 lines and its file", again, err)
	}
	select {
	case <-first.pumps.done():
		t.Error("its leftover is no longer drained")
	default:
	}
}

// TestClose: closing ends what runs, settles it, and starts nothing more.
func TestClose(t *testing.T) {
	a, err := New(Options{SpillDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	e := begin(t, a, protocol.Spec{Command: "trap 'echo bye; exit 3' TERM; echo on; while :; do :; done"})
	until(t, e, func(text string) bool { return text == "on\n" })
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if r, text := outcome(t, e); r.Reason != protocol.ReasonCanceled || r.ExitCode != 3 || text != "on\nbye\n" {
		t.Errorf("%q, %+v", text, r)
	}
	if _, _, err := a.start(protocol.Spec{ID: "late", Command: "true"}); code(err) != protocol.CodeClosing {
		t.Errorf("a start after Close: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// TestDescriptors: executions leave no descriptor and no zombie behind.
func TestDescriptors(t *testing.T) {
	a := newAgent(t)
	run := func(n int) {
		for i := range n {
			outcome(t, begin(t, a, protocol.Spec{Command: "seq 1 3000", Pipe: i%2 == 0, Stdin: protocol.StdinPipe}))
		}
	}
	run(4)
	awaitSpare(t, a, protocol.Spec{})
	before := descriptors(t)
	run(40)
	awaitDescriptors(t, before)
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) && unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) != unix.ECHILD {
		runtime.Gosched()
	}
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("a child is left: pid %d, %v", pid, err)
	}
}

// awaitDescriptors waits until no more are open than before: some are closed only after the
// result was told.
func awaitDescriptors(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); descriptors(t) > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors before, %d a minute after", before, descriptors(t))
		}
	}
}

// awaitSpare waits until a PTY for a command like the last one is ready.
func awaitSpare(t *testing.T, a *Agent, last protocol.Spec) {
	t.Helper()
	last.ID, last.Command = "x", "x"
	last, err := last.Check()
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		a.spare.mu.Lock()
		ready := a.spare.master != nil && a.spare.like == ptySettingsOf(&last)
		a.spare.mu.Unlock()
		if ready {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no spare PTY a minute after a command with one")
		}
	}
}

// TestSparePTY: the next command with a PTY like the last one's gets the one that is ready, and
// one with other settings is given those.
func TestSparePTY(t *testing.T) {
	a := newAgent(t)
	const show = "stty size <&1; stty -a <&2 | grep -o -e '-*opost'"
	for _, tc := range []struct {
		spec protocol.Spec
		want string
	}{
		{protocol.Spec{Columns: 90, Rows: 30}, "30 90\n-opost\n"},
		{protocol.Spec{Columns: 90, Rows: 30}, "30 90\n-opost\n"},
		{protocol.Spec{Columns: 91, Rows: 30}, "30 91\n-opost\n"},
		{protocol.Spec{Columns: 91, Rows: 30, Interactive: true}, "30 91\nopost\n"},
		{protocol.Spec{Columns: 91, Rows: 30, Interactive: true}, "30 91\nopost\n"},
		{protocol.Spec{Columns: 91, Rows: 30}, "30 91\n-opost\n"},
	} {
		tc.spec.Command = show
		if _, text := outcome(t, begin(t, a, tc.spec)); text != tc.want {
			t.Errorf("%+v: %q, want %q", ptySettingsOf(&tc.spec), text, tc.want)
		}
		awaitSpare(t, a, tc.spec)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

func TestSpillTrouble(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spill")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the directory should be
		t.Fatal(err)
	}
	a, err := New(Options{SpillDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r, text := outcome(t, begin(t, a, protocol.Spec{Command: "seq 1 20000; exit 5"}))
	if r.ExitCode != 5 || r.SpillPath != "" || r.SpillError == nil || r.SpillError.SafeBytes != 0 || !strings.HasSuffix(text, "\n20000\n") {
		t.Errorf("with an impossible spill directory: %+v", r)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	r, _ = outcome(t, begin(t, a, protocol.Spec{Command: "seq 1 20000"}))
	if r.SpillPath == "" || r.SpillError != nil {
		t.Errorf("with the directory put right: %+v", r)
	}
	if r, _ = outcome(t, begin(t, a, protocol.Spec{Command: "seq 1 20000", NoSpill: true})); r.SpillPath != "" || r.SpillError != nil {
		t.Errorf("without a spill: %+v", r)
	}
	if r, _ = outcome(t, begin(t, a, protocol.Spec{Command: "seq 1 10"})); r.SpillPath != "" {
		t.Errorf("a file for output that the view shows whole: %+v", r)
	}
}

// TestNeedlessCancels: canceling what has exited, again and again, ends its leftovers and
// changes nothing else.
func TestNeedlessCancels(t *testing.T) {
	a := newAgent(t)
	e := begin(t, a, protocol.Spec{Command: "(while :; do echo t; sleep 0.02; done) & exit 3", Grace: time.Millisecond})
	for e.progress().state == protocol.Running {
		until(t, e, func(text string) bool { return strings.HasPrefix(text, "t\n") })
	}
	for range 10 {
		e.end(protocol.ReasonCanceled)
	}
	if r, _ := outcome(t, e); r.Reason != protocol.ReasonExited || r.ExitCode != 3 || len(r.Leftovers) > 0 {
		t.Errorf("%+v", r)
	}
}
