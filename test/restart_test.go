//go:build linux

package test

// This file is about agents that are killed: the next one answers for what they were running.

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/google/go-cmp/cmp"
)

// killsVariable in the environment says how often an agent is killed at a random moment,
// defaultKills without it.
const (
	killsVariable = "EXECAGENT_TEST_KILLS"
	defaultKills  = 10
)

// times is how often to do something: what the variable in the environment says, if it is set.
func times(t testing.TB, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: give a number, 1 or more", variable, text)
	}
	return n
}

// die kills the agent as the kernel does when memory runs out, and what it left running.
func (a *agent) die(t testing.TB) {
	t.Helper()
	a.signal(t, syscall.SIGKILL)
	_ = a.cmd.Wait() // an error: it was killed
	a.dead = true
	kill(t, a.commands(t))
}

// What an agent was running when it was killed, and what had settled, is answered for by the next
// one, as if it had been its own.
func TestRestartedAgent(t *testing.T) {
	dir := shortTempDir(t) + "/spill"
	first := startAgentOn(t, dir)
	conn := first.dial(t)
	settled := make(map[string]*client.Result)
	for id, command := range map[string]string{"big": "seq 1 20000; exit 3", "small": "echo hi", "killed": "kill -9 $$"} {
		settled[id] = run(t, conn, client.Spec{ID: id, Command: command}).result
	}
	lost := client.Spec{ID: "lost", Command: "seq 1 5000; sleep 600"}
	start(t, conn, lost)
	path := attachUntil(t, conn, "lost", "\n5000\n").View().SpillPath
	eventually(t, "what was printed is in the file", func() bool {
		b, err := os.ReadFile(path)
		return err == nil && bytes.Equal(b, seq(1, 5000))
	})
	start(t, conn, client.Spec{ID: "silent", Command: "sleep 600"})
	first.die(t)

	second := startAgentOn(t, dir)
	conn = second.dial(t)
	for id, want := range settled {
		o := follow(t, attach(t, conn, id), client.Spec{}.Limits, nil)
		shown := want.Truncation
		want.Truncation = limits.Truncation{ // nothing is shown any more
			Truncated: true, TruncatedBy: new(limits.ByBytes), TotalLines: shown.TotalLines, TotalBytes: shown.TotalBytes,
			FirstLine: shown.TotalLines + 1, MaxLines: shown.MaxLines, MaxBytes: shown.MaxBytes,
		}
		if shown.TotalBytes == 0 {
			want.Truncation.Truncated, want.Truncation.TruncatedBy = false, nil
		}
		if diff := cmp.Diff(want, o.result); diff != "" {
			t.Errorf("%s after the restart (-was +is):\n%s", id, diff)
		}
		if o.text() != "" {
			t.Errorf("%s: the view shows %q, want nothing", id, o.text())
		}
	}
	for id, raw := range map[string][]byte{"lost": seq(1, 5000), "silent": nil} {
		r := follow(t, attach(t, conn, id), client.Spec{}.Limits, nil).result
		if r.Reason != protocol.ReasonAgentLost || r.ExitCode != 125 || r.Signal != nil || r.LastSeen.IsZero() || time.Since(r.LastSeen) > 2*patience {
			t.Errorf("%s: reason %s, exit code %d, last seen %v, want %s, 125 and a while ago", id, r.Reason, r.ExitCode, r.LastSeen, protocol.ReasonAgentLost)
		}
		if got := r.Truncation.TotalBytes; got != int64(len(raw)) || r.Truncation.TotalLines != int64(bytes.Count(raw, []byte("\n"))) {
			t.Errorf("%s: %d bytes, %d lines, want %d bytes", id, got, r.Truncation.TotalLines, len(raw))
		}
		if (r.SpillPath != "") != (raw != nil) {
			t.Errorf("%s: spill %q", id, r.SpillPath)
		} else if raw != nil {
			checkKept(t, r, raw, protocol.CauseAgentLost)
		}
	}
	// The same start again, from a client that lost the connection, does not run it twice.
	if cmd := start(t, conn, lost); !cmd.Started().Existing {
		t.Error("the lost command is started again")
	}
	_, err := conn.Start(t.Context(), client.Spec{ID: "lost", Command: "echo another"})
	if f := (*client.Failure)(nil); !errors.As(err, &f) || f.Code != protocol.CodeIDInUse {
		t.Errorf("another command under its id: %v, want %s", err, protocol.CodeIDInUse)
	}
	if err := conn.Signal(t.Context(), "lost", "INT"); err == nil {
		t.Error("a lost command takes a signal")
	}
	if err := conn.Cancel(t.Context(), "lost"); err != nil {
		t.Errorf("canceling a lost command: %v, want it left as it is", err)
	}
}

// An agent is killed at random moments, again and again on one directory: each time the files are
// a beginning of what was printed, and so are the totals.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	kills := times(t, killsVariable, defaultKills)
	dir := shortTempDir(t) + "/spill"
	reasons := make(map[protocol.Reason]int)
	var ids []string
	for range kills {
		a := startAgentOn(t, dir, "--spill-floor", "1ns", "--spill-max-total", "64MiB", "--spill-max-file", "8MiB")
		conn := a.dial(t)
		for _, id := range ids {
			reasons[checkRemembered(t, conn, id)]++
		}
		ids = nil
		for range 3 {
			id := client.NewID()
			ids = append(ids, id)
			start(t, conn, client.Spec{ID: id, Command: fmt.Sprintf("seq 1 %d", 1+rand.IntN(3_000_000)), Pipe: rand.IntN(2) == 0})
		}
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond) // not to wait for anything: any moment is good
		a.die(t)
		conn.Close()
	}
	t.Logf("%d kills: %v", kills, reasons)
	if reasons[protocol.ReasonAgentLost] == 0 {
		t.Errorf("%v: want executions that were lost", reasons)
	}
}

// checkRemembered checks that what is said of an execution of seq is true.
func checkRemembered(t *testing.T, conn *client.Conn, id string) protocol.Reason {
	t.Helper()
	r := follow(t, attach(t, conn, id), client.Spec{}.Limits, nil).result
	tr := r.Truncation
	truth := seq(1, int(max(tr.TotalLines, 1)))
	if int64(len(truth)) < tr.TotalBytes || tr.TotalBytes > 0 && int64(bytes.Count(truth[:tr.TotalBytes-1], []byte("\n")))+1 != tr.TotalLines {
		t.Errorf("%s: %d lines in %d bytes, which is no beginning of what seq prints", r.Reason, tr.TotalLines, tr.TotalBytes)
	}
	if r.SpillPath == "" {
		return r.Reason
	}
	kept, err := os.ReadFile(r.SpillPath)
	must(t, err)
	if !bytes.HasPrefix(seq(1, bytes.Count(kept, []byte("\n"))+1), kept) {
		t.Errorf("%s: the %d bytes in the file are no beginning of what seq prints", r.Reason, len(kept))
	}
	if r.SpillError != nil && r.SpillError.SafeBytes != int64(len(kept)) {
		t.Errorf("%s: %d bytes are said to be safe, and %d are in the file", r.Reason, r.SpillError.SafeBytes, len(kept))
	}
	return r.Reason
}

// What a killed agent left stays for the floor, and goes before what is older than its quota
// allows (C26).
func TestStaleFilesFollowTheRule(t *testing.T) {
	for _, c := range []struct {
		floor string
		stays bool
	}{{"1h", true}, {"1ns", false}} {
		t.Run("floor "+c.floor, func(t *testing.T) {
			t.Parallel()
			dir := shortTempDir(t) + "/spill"
			first := startAgentOn(t, dir)
			conn := first.dial(t)
			start(t, conn, client.Spec{ID: "x", Command: "seq 1 100000; sleep 600"})
			path := attachUntil(t, conn, "x", "\n100000\n").View().SpillPath
			first.die(t)
			second := startAgentOn(t, dir, "--spill-floor", c.floor, "--spill-max-total", "200KiB")
			run(t, second.dial(t), client.Spec{Command: "seq 1 20000"})
			if _, err := os.Stat(path); (err == nil) != c.stays {
				t.Errorf("the file of the killed agent: %v, want it to stay: %v", err, c.stays)
			}
		})
	}
}

// Two agents on one directory do not get into each other's way.
func TestTwoAgentsOnOneDirectory(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t) + "/spill"
	a, b := startAgentOn(t, dir), startAgentOn(t, dir)
	inA := run(t, a.dial(t), client.Spec{ID: "x", Command: "seq 1 20000"})
	inB := run(t, b.dial(t), client.Spec{ID: "x", Command: "seq 1 30000"})
	checkKept(t, inA.result, seq(1, 20_000), "")
	checkKept(t, inB.result, seq(1, 30_000), "")
	if want := dir + "/agent-2/"; len(inB.result.SpillPath) < len(want) || inB.result.SpillPath[:len(want)] != want {
		t.Errorf("the second agent's spill is %s, want it in %s", inB.result.SpillPath, want)
	}
}

// An agent is ready soon, whatever is in its directory.
func TestReadyWithAFullDirectory(t *testing.T) {
	dir := mountTmpfs(t, "size=128m")
	spill := dir + "/spill"
	must(t, os.Mkdir(spill, 0o700))
	now := time.Now().UTC().Format(time.RFC3339)
	for i := range protocol.MaxSpills {
		line := fmt.Sprintf(`{"version":1,"id":"x%d","state":"settled","begun":%q,"changed":%q,"ended":%q,"safe":0,"bytes":7,"lines":1,"detail":{}}`+"\n", i, now, now, now)
		must(t, os.WriteFile(fmt.Sprintf("%s/x%d.json", spill, i), []byte(line), 0o600))
	}
	ready := func(dir string) time.Duration {
		begun := time.Now()
		startAgentOn(t, dir)
		return time.Since(begun)
	}
	full, empty := ready(spill), ready(dir+"/empty")
	t.Logf("ready after %v with %d manifests, after %v with none", full, protocol.MaxSpills, empty)
	a := startAgentAs(t, func(cmd *exec.Cmd) { cmd.Args = append(cmd.Args, "--spill-dir", spill) }) // beside the first
	if o := run(t, a.dial(t), client.Spec{Command: "echo on"}); o.text() != "on\n" {
		t.Errorf("text %q, want %q", o.text(), "on\n")
	}
}
