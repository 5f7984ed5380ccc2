//go:build linux

package faults

// This file is the cases C21, C22 and C24: what a broken or slow client does to the others, and
// to its own command.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
)

// TestDeadWatcher is case C21: a watcher whose link is black-holed is dropped; the command and
// another watcher notice nothing.
func TestDeadWatcher(t *testing.T) {
	t.Parallel()
	alive, most := keepAlive, 4*time.Second
	if full {
		alive, most = 0, 30*time.Second
	}
	for name, hole := range map[string]Fault{
		"swallowed": {Kind: Swallow, At: 2000},
		"stuck":     {Kind: Stall, At: 2000, For: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, alive)
			victim := s.proxy(t, Plan{Up: hole, Down: hole})
			deadConn := dial(t, victim, client.Options{KeepAlive: time.Hour}) // it does not know
			dead, err := deadConn.Start(t.Context(), client.Spec{
				ID:      "date",
				Command: "i=0; while :; do i=$((i+1)); echo $i $(date +%s.%N); sleep 0.1; done",
				Timeout: patience,
			})
			if err != nil {
				t.Fatal(err)
			}
			followed := make(chan error, 1)
			go func() { _, err := dead.Wait(); followed <- err }()
			eventually(t, "the hole swallows", func() bool {
				_, down := victim.Links()[0].Bytes()
				return down > hole.At
			})
			swallowed := time.Now()

			conn := dial(t, s.proxy(t), client.Options{})
			attached := time.Now()
			other, err := conn.Attach(t.Context(), "date")
			if err != nil {
				t.Fatal(err)
			}
			var dropped time.Duration
			var last time.Time
			meanwhile := 0 // states with more output, while the dead one was still there
			for _, err := range other.Batches() {
				if err != nil {
					t.Fatal(err)
				}
				if last.IsZero() && time.Since(attached) > time.Second {
					t.Errorf("the second watcher has data after %v, want within 1 s", time.Since(attached))
				}
				last = time.Now()
				if s.agent.Status().Clients == 1 {
					dropped = time.Since(swallowed)
					break
				}
				meanwhile++
				if time.Since(swallowed) > patience {
					t.Fatal("the dead watcher is not dropped")
				}
			}
			if dropped > most {
				t.Errorf("the dead watcher was dropped after %v, want within %v", dropped, most)
			}
			t.Logf("dropped after %v, with %d states for the other meanwhile", dropped, meanwhile)
			if meanwhile < 4 { // the base, two that could be unacknowledged, and more
				t.Errorf("the other watcher saw %d states before the dead one was dropped", meanwhile)
			}
			if err := other.Cancel(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := other.Wait(); err != nil {
				t.Fatal(err)
			}
			if gap := longestGap(t, other.View().Text); gap > 10*time.Second {
				t.Errorf("the command stood still for %v", gap)
			}
			victim.CutAll()
			if lost := (*client.LostError)(nil); !errors.As(<-followed, &lost) {
				t.Errorf("the dead watcher's client: want a LostError")
			}
		})
	}
}

// longestGap returns the longest time between two lines "N SECONDS", whose numbers follow each
// other.
func longestGap(t *testing.T, text string) (longest time.Duration) {
	t.Helper()
	was, n := 0.0, 0
	for line := range strings.Lines(text) {
		var i int
		var at float64
		if _, err := fmt.Sscanf(line, "%d %f\n", &i, &at); err != nil || n > 0 && i != n+1 {
			t.Fatalf("behind line %d comes %q, %v", n, line, err)
		}
		if n > 0 {
			longest = max(longest, time.Duration((at-was)*float64(time.Second)))
		}
		was, n = at, i
	}
	return longest
}

// TestCutAndBack is case C22: a command whose connection is cut has an unknown outcome, or its
// own one if the client may dial again, soon or late.
func TestCutAndBack(t *testing.T) {
	t.Parallel()
	pauses := []time.Duration{200 * time.Millisecond, 2 * time.Second}
	if full {
		pauses = []time.Duration{2 * time.Second, 10 * time.Second}
	}
	s := newStage(t, keepAlive)
	const command = "echo begun; sleep 1; exit 7"
	t.Run("without", func(t *testing.T) {
		p := s.proxy(t)
		cmd := begun(t, dial(t, p, client.Options{}), command)
		p.CutAll()
		r, err := cmd.Wait()
		if lost := (*client.LostError)(nil); r != nil || !errors.As(err, &lost) || lost.State != protocol.Running || !strings.Contains(err.Error(), "unknown") {
			t.Errorf("%+v, %v: want no result and a LostError of a running command", r, err)
		}
	})
	for _, pause := range pauses {
		t.Run(pause.String(), func(t *testing.T) {
			p := s.proxy(t)
			told := &statuses{}
			cmd := begun(t, dial(t, p, client.Options{Reconnect: patience, OnStatus: told.add}), command)
			p.Refuse(true)
			p.CutAll()
			defer time.AfterFunc(pause, func() { p.Refuse(false) }).Stop()
			r, err := cmd.Wait()
			if err != nil || r.ExitCode != 7 || cmd.View().Text != "begun\n" {
				t.Errorf("%+v, %v, text %q", r, err, cmd.View().Text)
			}
			if want := []client.ConnState{client.Reconnecting, client.Connected}; !slices.Equal(told.all(), want) {
				t.Errorf("told %v, want %v", told.all(), want)
			}
		})
	}
}

// begun starts a command and follows it to its first output.
func begun(t *testing.T, conn *client.Conn, command string) *client.Command {
	t.Helper()
	cmd, err := conn.Start(t.Context(), client.Spec{Command: command})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range cmd.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		if cmd.View().Text != "" {
			return cmd
		}
	}
	t.Fatal("no output")
	return nil
}

// TestUnreadFlood is case C24: a flood whose client does not read holds up nobody, and is no
// backlog when it is read again.
func TestUnreadFlood(t *testing.T) {
	t.Parallel()
	duration, most := 5*time.Second, 2*time.Second // with few runs, the worst of a busy machine
	if full {
		duration, most = 60*time.Second, 300*time.Millisecond
	}
	s := newStage(t, 0)
	conn := dial(t, s.proxy(t), client.Options{})
	flood, err := conn.Start(t.Context(), client.Spec{Command: "yes", NoSpill: true, Timeout: 3 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer flood.Cancel(context.Background())
	var took []time.Duration
	for begun := time.Now(); time.Since(begun) < duration; {
		start := time.Now()
		cmd, err := conn.Start(t.Context(), client.Spec{Command: "echo hi"})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := cmd.Wait(); err != nil || cmd.View().Text != "hi\n" {
			t.Fatalf("%+v, %v, text %q", r, err, cmd.View().Text)
		}
		took = append(took, time.Since(start))
		time.Sleep(max(0, 100*time.Millisecond-time.Since(start))) // the case's pace
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("%d runs of echo: median %v, p99 %v, worst %v", len(took), took[len(took)/2], p99, took[len(took)-1])
	if p99 > most {
		t.Errorf("p99 %v, want under %v", p99, most)
	}
	var written int64
	list, err := conn.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Executions {
		if e.ID == flood.ID() {
			written = e.TotalBytes
		}
	}
	batches := 0
	for _, err := range flood.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		if batches++; flood.View().Truncation.TotalBytes >= written {
			break
		}
	}
	if batches > 3 { // two that were under way, then the present
		t.Errorf("the present comes with batch %d, want at most 3", batches)
	}
}
