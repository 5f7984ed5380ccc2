//go:build linux

package faults

// This file is what the tests share: an agent behind a proxy, and a short session through it.

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/execagent"
	"github.com/execagent/execagent/transport"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// full asks for everything that the cases say.
var full = os.Getenv("EXECAGENT_FAULTS") == "full"

const (
	// patience bounds every wait for what must happen.
	patience = 60 * time.Second
	// keepAlive is how often both sides ask for a sign of life: a side that gives none is
	// given up two and a half times as long after.
	keepAlive = time.Second
)

// stage is an agent in this process, and where it is reached.
type stage struct {
	agent  *execagent.Agent
	socket string
}

// newStage returns an agent. When the test ends, no connection to it may be left.
func newStage(t testing.TB, alive time.Duration) *stage {
	t.Helper()
	dir, err := os.MkdirTemp("", "faults-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &stage{socket: filepath.Join(dir, "sock")}
	l, err := transport.Listen(t.Context(), transport.Address{Scheme: transport.SchemeUnix, Target: s.socket}, transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.agent, err = execagent.New(execagent.Options{SpillDir: filepath.Join(dir, "spill"), KeepAlive: alive})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.agent.Serve(l) }()
	t.Cleanup(func() {
		eventually(t, "the agent gives up all clients", func() bool { return s.agent.Status().Clients == 0 })
		if err := errors.Join(s.agent.Close(), <-served); err != nil {
			t.Errorf("the agent: %v", err)
		}
	})
	return s
}

// checkFiles checks that when the test ends it has left no descriptor open, on either side. No
// other test may run beside it.
func checkFiles(t testing.TB) {
	before := openFiles(t)
	t.Cleanup(func() {
		eventually(t, "all descriptors are closed", func() bool { return openFiles(t) <= before })
	})
}

func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// eventually asks until the answer is yes: for what no event announces.
func eventually(t testing.TB, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !yes(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("not within %v: %s", patience, what)
			return
		}
	}
}

// proxy returns a proxy to the agent, which the test's end closes.
func (s *stage) proxy(t testing.TB, plans ...Plan) *Proxy {
	p := NewProxy("unix", s.socket)
	p.Plan(plans...)
	t.Cleanup(p.Close)
	return p
}

// through returns what dials through a proxy.
func through(p *Proxy) client.ConnectFunc {
	return func(ctx context.Context) (io.ReadWriteCloser, error) { return p.Connect(ctx) }
}

// dial returns a client through a proxy, which the test's end closes.
func dial(t testing.TB, p *Proxy, opts client.Options) *client.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := client.DialFunc(ctx, through(p), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// outcome is what a run comes to.
type outcome struct {
	View   client.View
	Result client.Result
}

// same compares outcomes but for what another run of the same command has otherwise.
var same = cmp.Options{
	cmpopts.IgnoreFields(client.Result{}, "ID", "Seconds", "CPUSeconds", "MaxRSSKiB", "SpillPath"),
	cmpopts.IgnoreFields(client.View{}, "SpillPath"),
}

func diff(want, got *outcome) string { return cmp.Diff(want, got, same) }

// shortSession is a command with some input and some output.
func shortSession() client.Spec {
	return client.Spec{
		ID:      client.NewID(),
		Command: `echo one; read x; echo "got $x"; read x || echo end; seq 1 300; exit 7`,
		Stdin:   client.StdinPipe,
		Pipe:    true,
	}
}

// runSession runs it to its end.
func runSession(ctx context.Context, conn *client.Conn, spec client.Spec) (*outcome, error) {
	cmd, err := conn.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer cmd.Close()
	if _, err := cmd.Stdin().Write([]byte("in")); err != nil {
		return nil, err
	}
	if _, err := cmd.Stdin().Write([]byte("put\n")); err != nil {
		return nil, err
	}
	if err := cmd.Stdin().Close(); err != nil {
		return nil, err
	}
	r, err := cmd.Wait()
	if err != nil {
		return nil, err
	}
	return &outcome{cmd.View(), *r}, nil
}
