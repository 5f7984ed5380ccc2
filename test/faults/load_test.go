//go:build linux

package faults

// This file is what many executions and many clients cost the agent.

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/execagent/execagent/client"
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

const (
	typist = "stty -icanon -echo; echo ready; exec cat"
	flood  = "exec yes 0123456789012345678901234567890123456789"
	floods = 8
)

// BenchmarkEchoBesideFloods types at a terminal while eight commands print flat out, and waits
// for each key's echo: through an agent, and at terminals that a loop in this process reads and
// throws away, which is what the machine allows.
func BenchmarkEchoBesideFloods(b *testing.B) {
	b.Run("agent", func(b *testing.B) {
		socket, _ := serve(b, programs(b))
		conn, err := client.Dial(b.Context(), "unix:"+socket, client.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		ctx, cancel := context.WithCancel(b.Context())
		var ended sync.WaitGroup
		defer ended.Wait()
		defer cancel() // and with it the commands
		term, err := conn.StartTerminal(ctx, client.Spec{Interactive: true, Command: typist})
		if err != nil {
			b.Fatal(err)
		}
		keys := make(chan byte, 1<<16)
		ended.Go(func() {
			for c := range term.Chunks() {
				for _, k := range c.Data {
					keys <- k
				}
			}
		})
		awaitKey(keys, '\n')
		for range floods {
			cmd, err := conn.Start(ctx, client.Spec{Command: flood, NoSpill: true, Timeout: 5 * time.Minute})
			if err != nil {
				b.Fatal(err)
			}
			ended.Go(func() { _, _ = cmd.Wait() })
		}
		typeKeys(b, term.Stdin(), keys)
	})
	b.Run("bare", func(b *testing.B) {
		var ended sync.WaitGroup
		defer ended.Wait()
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel() // which ends the commands, and with them the reading
		open := func(command string, take func([]byte)) *os.File {
			cmd := exec.CommandContext(ctx, "sh", "-c", command)
			master, err := pty.Start(cmd)
			if err != nil {
				b.Fatal(err)
			}
			ended.Go(func() { _ = cmd.Wait() })
			ended.Go(func() {
				defer master.Close()
				p := make([]byte, 64<<10)
				for n, err := master.Read(p); err == nil; n, err = master.Read(p) {
					take(p[:n])
				}
			})
			return master
		}
		keys := make(chan byte, 1<<16)
		term := open(typist, func(p []byte) {
			for _, k := range p {
				keys <- k
			}
		})
		awaitKey(keys, '\n')
		for range floods {
			open(flood, func([]byte) {})
		}
		typeKeys(b, term, keys)
	})
}

// typeKeys types a key at a time and reports how long their echoes took.
func typeKeys(b *testing.B, to io.Writer, echoes <-chan byte) {
	var took []time.Duration
	for b.Loop() {
		time.Sleep(5 * time.Millisecond) // a quick typist's is 50
		begun := time.Now()
		if _, err := io.WriteString(to, "k"); err != nil {
			b.Fatal(err)
		}
		awaitKey(echoes, 'k')
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
	b.ReportMetric(0, "ns/op") // most of it is the pause
}

func awaitKey(keys <-chan byte, want byte) {
	for k := range keys {
		if k == want {
			return
		}
	}
}
