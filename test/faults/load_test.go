//go:build linux

package faults

// This file is what many executions and many clients cost the agent.

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
)

// TestThousandIdle: 1000 executions that do nothing, followed by 100 clients, cost at most 64 KiB
// each and 50 threads together. Of a sample of them the agent's own growth is a part, so there
// may be twice as much of each.
func TestThousandIdle(t *testing.T) {
	t.Parallel()
	executions, clients, most := 200, 20, int64(128<<10)
	if full {
		executions, clients, most = 1000, 100, 64<<10
	}
	socket, pid := serve(t, programs(t))
	p := NewProxy("unix", socket)
	t.Cleanup(p.Close)
	before, _ := memory(t, pid)
	var all sync.WaitGroup
	for range clients {
		conn := dial(t, p, client.Options{})
		all.Go(func() {
			for range executions / clients {
				if err := idle(t.Context(), conn); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	after, threads := memory(t, pid)
	each := (after - before) / int64(executions)
	t.Logf("%d executions, %d clients: %.1f KiB each, %.1f MiB resident, %d threads", executions, clients, float64(each)/1024, float64(after)/(1<<20), threads)
	if each > most || threads > 50 {
		t.Errorf("an idle execution costs %d bytes and all of them %d threads, want at most %d and 50", each, threads, most)
	}
}

// idle starts an execution that has printed a line and then does nothing.
func idle(ctx context.Context, conn *client.Conn) error {
	cmd, err := conn.Start(ctx, client.Spec{Argv: []string{"sh", "-c", "echo here; exec sleep 903"}})
	if err != nil {
		return err
	}
	for _, err := range cmd.Batches() {
		if err != nil || cmd.View().Text != "" {
			return err
		}
	}
	return errors.New("it ended")
}

// BenchmarkEchoBesideFloods types at a terminal while eight commands print flat out, and waits
// for each key's echo.
func BenchmarkEchoBesideFloods(b *testing.B) {
	socket, _ := serve(b, programs(b))
	conn := dialUnix(b, socket)
	term, err := conn.StartTerminal(b.Context(), client.Spec{Interactive: true, Command: "stty -icanon -echo; echo ready; exec cat"})
	if err != nil {
		b.Fatal(err)
	}
	keys := make(chan byte, 1<<16)
	go func() {
		defer close(keys)
		for c, err := range term.Chunks() {
			if err != nil {
				return
			}
			for _, k := range c.Data {
				keys <- k
			}
		}
	}()
	for k := range keys {
		if k == '\n' { // of ready
			break
		}
	}
	for range 8 {
		flood, err := conn.Start(b.Context(), client.Spec{Command: "yes 0123456789012345678901234567890123456789", NoSpill: true, Timeout: 5 * time.Minute})
		if err != nil {
			b.Fatal(err)
		}
		go func() { _, _ = flood.Wait() }()
	}
	var took []time.Duration
	for b.Loop() {
		time.Sleep(5 * time.Millisecond) // a quick typist's is 50
		start := time.Now()
		if _, err := io.WriteString(term.Stdin(), "k"); err != nil {
			b.Fatal(err)
		}
		for k := range keys {
			if k == 'k' {
				break
			}
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
	b.ReportMetric(0, "ns/op") // most of it is the pause
	if err := conn.Signal(b.Context(), term.ID(), "KILL"); err != nil {
		b.Fatal(err)
	}
	list, err := conn.List(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range list.Executions {
		if e.State == protocol.Running {
			_ = conn.Cancel(b.Context(), e.ID)
		}
	}
}

// dialUnix returns a client without a proxy, which the benchmark's end closes.
func dialUnix(b *testing.B, socket string) *client.Conn {
	b.Helper()
	conn, err := client.Dial(b.Context(), "unix:"+socket, client.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return conn
}
