package embed

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/test/bench/gen"
)

// BenchmarkWholePath is 64 MiB from a command through PTY or pipe, window, spill, ops, frames
// and zstd to a client that folds them.
func BenchmarkWholePath(b *testing.B) {
	const size = 64 << 20
	for _, kind := range gen.Kinds() {
		input := filepath.Join(b.TempDir(), "input")
		r, err := gen.NewReader(kind, size)
		if err != nil {
			b.Fatal(err)
		}
		f, err := os.Create(input)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(f, r); err != nil {
			b.Fatal(err)
		}
		f.Close()
		for _, mode := range []string{"pty", "pipe"} {
			b.Run(string(kind)+"/"+mode, func(b *testing.B) {
				conn := dial(b)
				b.SetBytes(size)
				for b.Loop() {
					before := conn.WireBytes()
					r := run(b, conn, client.Spec{Command: "cat " + input, Pipe: mode == "pipe"})
					if r.Truncation.TotalBytes != size {
						b.Fatalf("got %+v", r)
					}
					b.ReportMetric(float64(conn.WireBytes()-before), "wire-B/op")
					os.Remove(r.SpillPath)
				}
			})
		}
	}
}

// BenchmarkTrue is the least command, start to result on an open connection, beside the least
// that any program must do for it: PTY, fork, exec, read to the end, wait. They take turns of
// fifty, so that the machine's moods and what one leaves to do meet both; the medians and
// their ratio are reported.
func BenchmarkTrue(b *testing.B) {
	conn := dial(b)
	var ours, least []float64
	timed := func(list *[]float64, f func()) {
		begun := time.Now()
		f()
		*list = append(*list, float64(time.Since(begun).Nanoseconds())/1000)
	}
	for b.Loop() {
		for range 50 {
			timed(&ours, func() { run(b, conn, client.Spec{Command: "true"}) })
		}
		for range 50 {
			timed(&least, func() { runBare(b, "true") })
		}
	}
	slices.Sort(ours)
	slices.Sort(least)
	agent, limit := ours[len(ours)/2], least[len(least)/2]
	b.ReportMetric(0, "ns/op") // of a hundred, half of them not ours
	b.ReportMetric(agent, "agent-µs")
	b.ReportMetric(limit, "limit-µs")
	b.ReportMetric(agent/limit, "ratio")
}

// runBare runs a command without an agent.
func runBare(b *testing.B, command string) {
	master, slave, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer master.Close()
	cmd := exec.Command("/bin/bash", "-c", command)
	cmd.Stdout, cmd.Stderr = slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	slave.Close()
	_, _ = io.Copy(io.Discard, master)
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}

func dial(b *testing.B) *Conn {
	b.Helper()
	conn, err := Dial(context.Background(), Options{SpillDir: filepath.Join(b.TempDir(), "spill")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := conn.Close(); err != nil {
			b.Error(err)
		}
	})
	return conn
}

func run(b *testing.B, conn *Conn, spec client.Spec) *client.Result {
	b.Helper()
	cmd, err := conn.Start(context.Background(), spec)
	if err != nil {
		b.Fatal(err)
	}
	r, err := cmd.Wait()
	if err != nil || r.ExitCode != 0 {
		b.Fatalf("%+v, %v", r, err)
	}
	return r
}
