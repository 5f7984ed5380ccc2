//go:build linux

package test

// This file is about the end of output: nothing that was written is missing, and nobody who
// stays behind is waited for.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
)

// A command that ends as soon as it has written everything loses nothing of it (C01).
func TestEveryByteBeforeTheExit(t *testing.T) {
	t.Parallel()
	raw := seq(1, 100_000)
	if len(raw) != 588895 {
		t.Fatalf("seq 1 100000 is %d bytes, want 588895", len(raw))
	}
	w := wantView(raw, raw, limits.Limits{})
	spec := client.Spec{Command: "seq 1 100000"}
	a := startAgent(t)
	conn := a.dial(t)
	check := func(t *testing.T, o *outcome) {
		t.Helper()
		checkExit(t, o, 0)
		checkWant(t, o, w)
	}
	bothModes(t, func(t *testing.T, pipe bool) {
		spec := spec
		spec.Pipe = pipe
		for i := range 50 {
			if check(t, run(t, conn, spec)); t.Failed() {
				t.Fatalf("in run %d", i+1)
			}
		}
		t.Run("reader delayed", func(t *testing.T) {
			delay := sync.OnceFunc(func() { time.Sleep(time.Second) })
			check(t, follow(t, start(t, conn, spec), spec.Limits, func(client.View) { delay() }))
		})
		t.Run("agent stopped", func(t *testing.T) {
			spec := spec
			spec.Command = "sleep 0.2; " + spec.Command // by then the agent has stopped
			cmd := start(t, conn, spec)
			a.signal(t, syscall.SIGSTOP)
			time.Sleep(time.Second)
			a.signal(t, syscall.SIGCONT)
			check(t, follow(t, cmd, spec.Limits, nil))
		})
	})
}

// However many commands there are, none comes back empty, and they take nothing with them (C03).
func TestTenThousandCommands(t *testing.T) {
	const commands, at = 10_000, 4
	a := startAgent(t)
	conn := a.dial(t)
	run(t, conn, client.Spec{Command: "echo X"})
	before := openFiles(t, a.pid)
	var wg sync.WaitGroup
	for worker := range at {
		wg.Go(func() {
			for i := range commands / at {
				id := fmt.Sprintf("echo-%d-%d", worker, i)
				if err := echo(conn, client.Spec{ID: id, Command: "echo X", Pipe: i%2 == 1}); err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
			}
		})
	}
	wg.Wait()
	a.awaitFiles(t, before)
	// All of them can still be asked for.
	if peak, most := peakMemory(t, a.pid), int64(mostMemory+commands*16<<10); peak > most {
		t.Errorf("the agent's peak memory is %d bytes after %d commands, want at most %d", peak, commands, most)
	}
	t.Logf("the agent's peak memory: %.1f MiB", float64(peakMemory(t, a.pid))/(1<<20))
}

// echo runs a command that must print "X\n".
func echo(conn *client.Conn, spec client.Spec) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd, err := conn.Start(ctx, spec)
	if err != nil {
		return err
	}
	r, err := cmd.Wait()
	if err != nil {
		return err
	}
	if v := cmd.View(); r.ExitCode != 0 || v.Text != "X\n" || r.Truncation.TotalBytes != 2 || r.Truncation.TotalLines != 1 {
		return fmt.Errorf("exit code %d, text %q, %d bytes, %d lines, want 0, %q, 2, 1",
			r.ExitCode, v.Text, r.Truncation.TotalBytes, r.Truncation.TotalLines, "X\n")
	}
	return nil
}

// What comes shortly after the leader's exit is still output (C02).
func TestLateOutput(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		// The pauses are half of what counts as the end. A loaded machine may double one,
		// so not every run has to be complete.
		var texts []string
		for range 20 {
			o := run(t, conn, client.Spec{Command: "(for i in 1 2 3 4 5; do sleep 0.05; echo late$i; done) & echo early", Pipe: pipe})
			checkExit(t, o, 0)
			if o.text() == "early\nlate1\nlate2\nlate3\nlate4\nlate5\n" {
				return
			}
			texts = append(texts, o.text())
		}
		t.Errorf("in %d runs the text was %q, want early and late1 to late5", len(texts), texts)
	})
	eventually(t, "what was late has ended", func() bool { return len(a.commands(t)) == 0 })
}

// Processes that outlive the leader do not hold the result up, live on, and are listed; when
// they end, the agent has nothing left of them (C02, C04).
func TestLeftovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command string
		text    string  // what the view begins with
		left    string  // what stays
		most    float64 // seconds to the result, on a loaded machine
	}{
		{"sleep 30.1 & echo early", "early\n", "sleep 30.1", 5},
		{"sleep 300.1 & echo ok", "ok\n", "sleep 300.1", 5},
		{"sleep 300.2 >/dev/null & echo ok", "ok\n", "sleep 300.2", 5},
		{"setsid sleep 300.3 & sleep 0.3; echo ok", "ok\n", "sleep 300.3", 5},
		{"(while :; do echo t; sleep 0.05; done) & echo early", "early\n", "while", 10},
	} {
		t.Run(c.command, func(t *testing.T) {
			bothModes(t, func(t *testing.T, pipe bool) {
				a := startAgent(t)
				conn := a.dial(t)
				run(t, conn, client.Spec{Command: "true", Pipe: pipe})
				before := openFiles(t, a.pid)
				o := run(t, conn, client.Spec{Command: c.command, Pipe: pipe})
				checkExit(t, o, 0)
				if !strings.Contains(o.text(), c.text) {
					t.Errorf("text %q, want %q in it", o.text(), c.text)
				}
				if o.result.Seconds > c.most {
					t.Errorf("settled after %.1f s, want at most %.0f", o.result.Seconds, c.most)
				}
				left := a.commands(t)
				if !slices.ContainsFunc(left, func(p process) bool { return strings.Contains(p.command, c.left) }) {
					t.Errorf("alive are %+v, want %q among them", left, c.left)
				}
				isListed := func(p protocol.Process) bool { return strings.Contains(p.Command, c.left) && alive(p.PID) }
				if !slices.ContainsFunc(o.result.Leftovers, isListed) {
					t.Errorf("leftovers are %+v, want %q among them", o.result.Leftovers, c.left)
				}
				kill(t, left)
				a.awaitFiles(t, before)
			})
		})
	}
}

// checkExit checks that the command ended by itself, with this exit code.
func checkExit(t testing.TB, o *outcome, code int) {
	t.Helper()
	if r := o.result; r.Reason != protocol.ReasonExited || r.ExitCode != code || r.Signal != nil {
		t.Errorf("reason %q, exit code %d, signal %v, want exited, %d, none", r.Reason, r.ExitCode, r.Signal, code)
	}
}

// seq is what seq(1) prints.
func seq(from, to int) []byte {
	var b []byte
	for i := from; i <= to; i++ {
		b = fmt.Appendf(b, "%d\n", i)
	}
	return b
}
