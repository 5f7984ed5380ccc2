//go:build linux

package faults

// This file breaks a short session at each of its bytes.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport"
)

// atOnce is how many sessions are broken at the same time: they mostly wait.
const atOnce = 16

// TestEverywhere: whatever happens to a connection at whichever byte, a client that dials again
// comes to the view and the result of an undisturbed run. Where it happens before the handshake
// is over, the client may also have an error that says so; nothing was started then.
func TestEverywhere(t *testing.T) {
	checkFiles(t)
	s := newStage(t, keepAlive)
	want, up, down := undisturbed(t, s)
	for _, kind := range []Kind{Cut, Corrupt, Swallow} {
		t.Run(string(kind), func(t *testing.T) {
			var plans []Plan
			for at := range up {
				plans = append(plans, Plan{Up: Fault{Kind: kind, At: at}})
			}
			for at := range down {
				plans = append(plans, Plan{Down: Fault{Kind: kind, At: at}})
			}
			rand.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
			sample := len(plans)
			if !full {
				sample = 100
			}
			if kind == Swallow { // each takes until the sign of life is missed
				sample /= 4
			}
			each(plans[:sample], func(p Plan) {
				if err := disturbed(t, s, p, want); err != nil {
					t.Errorf("%+v: %v", p, err)
				}
			})
		})
	}
}

// undisturbed runs the session and returns its outcome and how many bytes it took.
func undisturbed(t *testing.T, s *stage) (want *outcome, up, down int64) {
	t.Helper()
	p := s.proxy(t)
	conn := dial(t, p, client.Options{})
	want, err := runSession(t.Context(), conn, shortSession())
	if err != nil {
		t.Fatal(err)
	}
	if want.Result.ExitCode != 7 || want.Result.Truncation.TotalLines != 303 {
		t.Fatalf("undisturbed: %+v", want.Result)
	}
	up, down = p.Links()[0].Bytes()
	return want, up, down
}

// each calls do for all plans, some at once.
func each(plans []Plan, do func(Plan)) {
	next := make(chan Plan)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for p := range next {
				do(p)
			}
		})
	}
	for _, p := range plans {
		next <- p
	}
	close(next)
	workers.Wait()
}

// disturbed runs the session with a first connection to which something happens.
func disturbed(t *testing.T, s *stage, plan Plan, want *outcome) error {
	p := s.proxy(t, plan)
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	hello, cancelHello := context.WithTimeout(ctx, 3*time.Second)
	defer cancelHello()
	conn, err := client.DialFunc(hello, through(p), client.Options{Reconnect: patience, KeepAlive: keepAlive})
	if he := (*transport.HandshakeError)(nil); errors.As(err, &he) || errors.Is(err, transport.ErrSessionClosed) {
		return nil
	} else if err != nil {
		return fmt.Errorf("dialing: %w", err)
	}
	defer conn.Close()
	return sameSession(ctx, conn, want)
}

// sameSession runs the session and compares it with an undisturbed one.
func sameSession(ctx context.Context, conn *client.Conn, want *outcome) error {
	got, err := runSession(ctx, conn, shortSession())
	if err != nil {
		return err
	}
	if d := diff(want, got); d != "" {
		return fmt.Errorf("undisturbed (-) and disturbed (+):\n%s", d)
	}
	return nil
}

// TestComingBack: the same as TestEverywhere for an agent that dials the client. It comes back by
// itself, to the same Conn.
func TestComingBack(t *testing.T) {
	checkFiles(t)
	s := newStage(t, keepAlive)
	want, up, down := undisturbed(t, s)
	var plans []Plan
	for kind, some := range map[Kind]int{Cut: 30, Corrupt: 15, Swallow: 8} {
		for range some {
			plans = append(plans, Plan{Up: Fault{Kind: kind, At: rand.Int64N(down)}}, Plan{Down: Fault{Kind: kind, At: rand.Int64N(up)}})
		}
	}
	each(plans, func(p Plan) {
		if err := cameBack(t, s, p, want); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	})
}

// cameBack runs the session with an agent whose first connection something happens to.
func cameBack(t *testing.T, s *stage, plan Plan, want *outcome) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	socket := filepath.Join(filepath.Dir(s.socket), client.NewID()[:8])
	l, err := client.Listen(ctx, "unix:"+socket, client.Options{Reconnect: patience, KeepAlive: keepAlive})
	if err != nil {
		return err
	}
	defer l.Close()
	p := NewProxy("unix", socket)
	p.Plan(plan)
	var dialing sync.WaitGroup
	defer dialing.Wait()
	defer p.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	dialing.Go(func() {
		for ctx.Err() == nil {
			if conn, err := p.Connect(ctx); err == nil {
				_ = s.agent.ServeConn(ctx, conn)
			}
		}
	})
	conn, err := l.Accept(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return sameSession(ctx, conn, want)
}
