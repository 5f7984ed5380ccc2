//go:build linux

package test

// This file is about several watchers of one execution: each has its own pace and the same end.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/google/go-cmp/cmp"
)

// attach follows an execution from now on.
func attach(t testing.TB, conn *client.Conn, id string) *client.Command {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd, err := conn.Attach(ctx, id)
	if err != nil {
		t.Fatalf("attaching to %s: %v", id, err)
	}
	t.Cleanup(func() { cmd.Close() })
	return cmd
}

// One watcher follows from the start, one never asks, one comes late by another connection, one
// leaves, one comes after the end. The command notices none of it.
func TestWatchers(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn, other := a.dial(t), a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		release := filepath.Join(t.TempDir(), "release")
		spec := client.Spec{
			Command: "seq 1 50000; until [ -e " + release + " ]; do sleep 0.01; done; seq 50001 100000",
			Pipe:    pipe,
		}
		raw := seq(1, 100_000)
		w := wantView(raw, raw, spec.Limits)
		first := start(t, conn, spec)
		silent := attach(t, conn, first.ID())
		leaver := attach(t, conn, first.ID())
		for range leaver.Batches() {
			break
		}
		leaver.Close()

		var late *outcome
		var watching sync.WaitGroup
		join := sync.OnceFunc(func() {
			cmd := attach(t, other, first.ID())
			if s := cmd.Started(); !s.Existing || s.PID != first.Started().PID {
				t.Errorf("attached to %+v, want the existing process %d", s, first.Started().PID)
			}
			watching.Go(func() {
				late = follow(t, cmd, spec.Limits, func(v client.View) {
					// A base batch has the present state, not the beginning.
					if v.Truncation.TotalLines < 50_000 {
						t.Errorf("the late watcher sees line %d", v.Truncation.TotalLines)
					}
					if err := os.WriteFile(release, nil, 0o600); err != nil {
						t.Error(err)
					}
				})
			})
		})
		o := follow(t, first, spec.Limits, func(v client.View) {
			if v.Truncation.TotalLines >= 50_000 {
				join()
			}
		})
		watching.Wait()
		checkExit(t, o, 0)
		for name, o := range map[string]*outcome{
			"first":  o,
			"late":   late,
			"silent": follow(t, silent, spec.Limits, nil),
			"after":  follow(t, attach(t, other, first.ID()), spec.Limits, nil),
		} {
			if diff := cmp.Diff(w, o.got()); diff != "" {
				t.Errorf("%s: final view, want (-) got (+):\n%s", name, diff)
			}
			if diff := cmp.Diff(late.result, o.result); diff != "" {
				t.Errorf("%s: result, late (-) and this (+):\n%s", name, diff)
			}
		}
	})
}

// An execution that settled before the attach is one base batch and the result.
func TestAttachToTheSettled(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	o := run(t, conn, client.Spec{ID: "settled", Command: "seq 1 5000; exit 3"})
	again := follow(t, attach(t, conn, "settled"), limits.Limits{}, nil)
	if again.batches != 1 {
		t.Errorf("%d batches, want the base alone", again.batches)
	}
	if diff := cmp.Diff(o.view, again.view); diff != "" {
		t.Errorf("final views of the first watcher (-) and the later (+):\n%s", diff)
	}
	if diff := cmp.Diff(o.result, again.result); diff != "" {
		t.Errorf("results of the first watcher (-) and the later (+):\n%s", diff)
	}
}

// A watcher that does not ask for a while finds the present state, not what it missed (C24).
func TestNoBacklog(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	watched := start(t, conn, client.Spec{Command: "helper trickle 3000"})
	silent := attach(t, conn, watched.ID())
	o := follow(t, watched, limits.Limits{}, nil)
	behind := follow(t, silent, limits.Limits{}, nil)
	// Two unacknowledged when it fell silent, then the latest.
	if behind.batches > 4 || behind.text() != o.text() {
		t.Errorf("the silent watcher got %d batches to %d bytes, want at most 4 to %d; the other got %d",
			behind.batches, len(behind.text()), len(o.text()), o.batches)
	}
}

// What nobody started cannot be attached to, and an ended context attaches nothing.
func TestAttachToNothing(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	_, err := conn.Attach(context.Background(), "nobody")
	var failure *client.Failure
	if !errors.As(err, &failure) || failure.Code != protocol.CodeUnknownID || !strings.Contains(failure.Message, `"nobody"`) {
		t.Errorf("attaching to an unknown ID: %v, want a failure of code %s that names it", err, protocol.CodeUnknownID)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	cmd := start(t, conn, client.Spec{ID: "on", Command: "sleep 0.2; echo on"})
	if _, err := conn.Attach(ctx, "on"); !errors.Is(err, context.Canceled) {
		t.Errorf("attaching with an ended context: %v, want context.Canceled", err)
	}
	if o := follow(t, cmd, limits.Limits{}, nil); o.text() != "on\n" {
		t.Errorf("the execution printed %q, want %q: only Start's context ends it", o.text(), "on\n")
	}
}

// Losing the connection is an outcome of its own, and the command goes on (C22).
func TestLostConnection(t *testing.T) {
	a := startAgent(t)
	release := filepath.Join(t.TempDir(), "release")
	loser := a.dial(t)
	cmd := start(t, loser, client.Spec{ID: "lost", Command: "echo begun; until [ -e " + release + " ]; do sleep 0.05; done; exit 7"})
	for batch, err := range cmd.Batches() {
		if err == nil && cmd.View().Text == "" {
			continue
		}
		if err != nil {
			t.Fatalf("before the loss: %v, %s", err, batch.Wire)
		}
		break
	}
	loser.Close()
	r, err := cmd.Wait()
	var lost *client.LostError
	if r != nil || !errors.As(err, &lost) || lost.ID != "lost" || lost.State != protocol.Running {
		t.Errorf("Wait after the loss = %+v, %v, want no result and a LostError of a running %q", r, err, "lost")
	}
	conn := a.dial(t)
	again := attach(t, conn, "lost")
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := follow(t, again, limits.Limits{}, nil)
	checkExit(t, o, 7)
	if o.text() != "begun\n" {
		t.Errorf("text %q, want %q", o.text(), "begun\n")
	}
}
