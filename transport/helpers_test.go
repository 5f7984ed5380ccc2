// This file holds what the tests share: children, sessions, streams.

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// helperEnv names the helper that a re-executed test binary is to run.
const helperEnv = "EXECAGENT_TRANSPORT_HELPER"

// helpers are the programs of the tests, so that none depends on PATH.
var helpers = map[string]func() int{
	"agent":   helperAgent,
	"exits 7": helperExits7,
	"greets":  helperGreets,
	"echoes":  helperEchoes,
	"stays":   helperStays,
}

func runHelper(name string) int {
	run, ok := helpers[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no helper %q\n", name)
		return 97
	}
	return run()
}

// helperAgent serves standard input and output, echoing every stream.
func helperAgent() int {
	s, err := Server(context.Background(), Stdio(), Options{Software: "helper", Instance: "i1"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer s.Close()
	serveEcho(s)
	return 0
}

// serveEcho sends every frame of every stream back until the session ends.
func serveEcho(s *Session) {
	done := make(chan struct{}, acceptBacklog)
	n := 0
	for {
		st, err := s.Accept(context.Background())
		if err != nil {
			break
		}
		n++
		go func() {
			defer func() { done <- struct{}{} }()
			echo(st)
		}()
	}
	for range n {
		<-done
	}
}

// echo sends the frames of one stream back and ends as it ended.
func echo(st *Stream) error {
	defer st.Close()
	for {
		kind, payload, err := st.ReadFrame()
		if err == io.EOF {
			return st.CloseWrite()
		}
		if err != nil {
			return err
		}
		if err := st.WriteFrame(kind, payload); err != nil {
			return err
		}
	}
}

// testContext bounds a test generously: it fails instead of hanging.
func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// connect shakes hands over the two ends of a connection.
func connect(t testing.TB, clientConn, agentConn io.ReadWriteCloser, clientOpts, agentOpts Options) (client, agent *Session) {
	t.Helper()
	ctx := testContext(t)
	type result struct {
		s   *Session
		err error
	}
	served := make(chan result, 1)
	go func() {
		s, err := Server(ctx, agentConn, agentOpts)
		served <- result{s, err}
	}()
	client, clientErr := Client(ctx, clientConn, clientOpts)
	r := <-served
	if err := errors.Join(clientErr, r.err); err != nil {
		t.Fatalf("handshake: %v", err)
	}
	t.Cleanup(func() {
		client.Close()
		r.s.Close()
	})
	return client, r.s
}

// connectPipe is connect over a Pipe.
func connectPipe(t testing.TB) (client, agent *Session) {
	t.Helper()
	c, a := Pipe()
	return connect(t, c, a, Options{Software: "test client"}, Options{Software: "test agent", Instance: "one"})
}

// connectUnix is connect over a unix socket.
func connectUnix(t testing.TB, clientOpts, agentOpts Options) (client, agent *Session) {
	t.Helper()
	ctx := testContext(t)
	addr := Address{SchemeUnix, filepath.Join(t.TempDir(), "s")}
	l, err := Listen(ctx, addr, Options{})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		defer close(accepted)
		if conn, err := l.Accept(); err == nil {
			accepted <- conn
		}
	}()
	conn, err := DialConn(ctx, addr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	agentConn, ok := <-accepted
	if !ok {
		t.Fatal("Accept failed")
	}
	return connect(t, conn, agentConn, clientOpts, agentOpts)
}

// openPair opens a stream and returns both ends.
func openPair(t testing.TB, client, agent *Session) (ours, theirs *Stream) {
	t.Helper()
	ctx := testContext(t)
	ours, err := client.Open(ctx)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	theirs, err = agent.Accept(ctx)
	if err != nil {
		t.Fatalf("Accept: %v", err)
	}
	t.Cleanup(func() {
		ours.Close()
		theirs.Close()
	})
	return ours, theirs
}
