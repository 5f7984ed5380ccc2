//go:build linux

package faults

// This file is slow and silent links: they take longer, and come to the same.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/google/go-cmp/cmp"
)

// TestSlowLink is the first half of case C03: over 1 MB/s and 100 ms each way a result is never
// early and never short.
func TestSlowLink(t *testing.T) {
	t.Parallel()
	const lines = 1_500_000
	runs := 2
	if full {
		runs = 20
	}
	s := newStage(t, 0)
	slow := Fault{Delay: 100 * time.Millisecond, Rate: 1_000_000}
	for _, pipe := range []bool{false, true} {
		p := s.proxy(t, Plan{Up: slow, Down: slow})
		conn := dial(t, p, client.Options{})
		for run := range runs {
			cmd, err := conn.Start(t.Context(), client.Spec{Command: fmt.Sprintf("seq 1 %d", lines), Pipe: pipe})
			if err != nil {
				t.Fatal(err)
			}
			r, err := cmd.Wait()
			if err != nil {
				t.Fatal(err)
			}
			v := cmd.View()
			if r.ExitCode != 0 || r.Truncation.TotalLines != lines || cmp.Diff(v.Truncation, r.Truncation) != "" || !strings.HasSuffix(v.Text, "\n1500000\n") {
				t.Errorf("pipe %v, run %d: exit %d, %d lines of %d, the view has %d and ends in %q", pipe, run,
					r.ExitCode, r.Truncation.TotalLines, lines, v.Truncation.TotalLines, v.Text[max(0, len(v.Text)-20):])
			}
		}
		up, down := p.Links()[0].Bytes()
		t.Logf("pipe %v: %d runs took %d bytes up, %d down", pipe, runs, up, down)
	}
}

// TestStalls: a link that is silent for 12, 25 and 45 seconds, where signs of life are asked for
// every 10: everything a twentieth of it unless all is asked for. The command writes meanwhile.
func TestStalls(t *testing.T) {
	t.Parallel()
	scale, alive := time.Duration(20), 10*time.Second/20
	if full {
		scale, alive = 1, 0
	}
	s := newStage(t, alive)
	want := outcomeOf(t, dial(t, s.proxy(t), client.Options{}), client.Spec{Command: ticks(int(60 * time.Second / scale))})
	var all sync.WaitGroup
	defer all.Wait()
	for _, stall := range []time.Duration{12 * time.Second, 25 * time.Second, 45 * time.Second} {
		for name, plan := range map[string]Plan{
			"up":   {Up: Fault{Kind: Stall, At: 700, For: stall / scale}},
			"down": {Down: Fault{Kind: Stall, At: 1100, For: stall / scale}},
		} {
			all.Go(func() {
				told := &statuses{}
				conn := dial(t, s.proxy(t, plan), client.Options{Reconnect: patience, KeepAlive: alive, OnStatus: told.add})
				got := outcomeOf(t, conn, client.Spec{Command: ticks(int(60 * time.Second / scale))})
				if d := diff(want, got); d != "" {
					t.Errorf("%v %s: undisturbed (-) and stalled (+):\n%s", stall, name, d)
				}
				lost := slices.Contains(told.all(), client.Reconnecting)
				if full && stall == 12*time.Second && lost || stall == 45*time.Second && !lost {
					t.Errorf("%v %s: the client was told %v", stall, name, told.all())
				}
			})
		}
	}
}

// ticks is a command that writes a line every 50 ms for so long, and exits with 7.
func ticks(nanoseconds int) string {
	return fmt.Sprintf("for i in $(seq 1 %d); do echo tick $i; sleep 0.05; done; exit 7", nanoseconds/int(50*time.Millisecond))
}

func outcomeOf(t testing.TB, conn *client.Conn, spec client.Spec) *outcome {
	t.Helper()
	cmd, err := conn.Start(t.Context(), spec)
	if err != nil {
		t.Error(err)
		return &outcome{}
	}
	r, err := cmd.Wait()
	if err != nil {
		t.Error(err)
		return &outcome{}
	}
	return &outcome{cmd.View(), *r}
}

// statuses collects what a client is told of its connection.
type statuses struct {
	mu     sync.Mutex
	states []client.ConnState
}

func (s *statuses) add(st client.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states = append(s.states, st.State)
}

func (s *statuses) all() []client.ConnState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.states)
}

// TestNobodyThere: without reconnecting, each of these is an error that says that the outcome is
// unknown, in time.
func TestNobodyThere(t *testing.T) {
	checkFiles(t)
	s := newStage(t, keepAlive)
	for name, plan := range map[string]Plan{
		"cut":                 {Down: Fault{Kind: Cut, At: 1200}},
		"damage":              {Down: Fault{Kind: Corrupt, At: 1200}},
		"nothing comes":       {Down: Fault{Kind: Swallow, At: 1200}},
		"nothing goes":        {Up: Fault{Kind: Swallow, At: 1000}},
		"stuck on the way":    {Down: Fault{Kind: Stall, At: 1200, For: time.Hour}},
		"stuck on the way up": {Up: Fault{Kind: Stall, At: 1000, For: time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, s.proxy(t, plan), client.Options{KeepAlive: keepAlive})
			cmd, err := conn.Start(t.Context(), client.Spec{Command: "while :; do echo on; sleep 0.05; done", Timeout: patience})
			if err != nil {
				t.Fatal(err)
			}
			r, err := cmd.Wait()
			if lost := (*client.LostError)(nil); r != nil || !errors.As(err, &lost) || lost.ID != cmd.ID() {
				t.Errorf("%+v, %v, want a LostError", r, err)
			}
		})
	}
}
