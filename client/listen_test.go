package client

// This file tests agents that dial.

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

func testToken(t *testing.T) transport.Token {
	t.Helper()
	token, err := transport.NewToken([]byte("a token of these tests"))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func mustListen(t *testing.T, opts Options) *Listener {
	t.Helper()
	l, err := Listen(t.Context(), "tcp:127.0.0.1:0", opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// dialingAgent is an agent that dials, and does nothing further.
func dialingAgent(t *testing.T, l *Listener, name string, token transport.Token) (*transport.Session, error) {
	t.Helper()
	a, err := transport.ParseAddress(l.Address())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := transport.DialConn(t.Context(), a, transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return transport.Server(t.Context(), conn, transport.Options{Instance: name, Token: token})
}

// TestListen accepts agents among strangers who are silent, wrong, or gone.
func TestListen(t *testing.T) {
	token := testToken(t)
	l := mustListen(t, Options{Token: token})
	for range transport.MaxWaiting + 10 {
		silent, err := net.Dial("tcp", strings.TrimPrefix(l.Address(), "tcp:"))
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
	}
	wrong, err := transport.NewToken([]byte("another token of these tests"))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := dialingAgent(t, l, "wrong", wrong); err == nil {
		s.Close()
		t.Error("an agent with another token got in")
	}
	for _, name := range []string{"one", "two"} {
		agent, err := dialingAgent(t, l, name, token)
		if err != nil {
			t.Fatal(err)
		}
		defer agent.Close()
		conn, err := l.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := conn.Peer().Instance; got != name {
			t.Errorf("agent %q, want %q", got, name)
		}
		stream, err := agent.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if kind, _, err := stream.ReadFrame(); err != nil || kind != protocol.KindOpen {
			t.Errorf("the client began with kind %d, %v", kind, err)
		}
	}
}

// comes has an agent dial, as one of these tests' with their token.
func comes(t *testing.T, l *Listener, name string) *transport.Session {
	t.Helper()
	s, err := dialingAgent(t, l, name, testToken(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestListenAgain: an agent that comes back has its Conn go on, also before this side knows that
// the connection broke; another agent, and one whose Conn was closed, gets a Conn of its own.
func TestListenAgain(t *testing.T) {
	told := make(chan Status, 10)
	l := mustListen(t, Options{Token: testToken(t), Reconnect: time.Minute, OnStatus: func(s Status) { told <- s }})
	accepted := func(name string) *Conn {
		t.Helper()
		conn, err := l.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if got := conn.Peer().Instance; got != name {
			t.Errorf("agent %q, want %q", got, name)
		}
		return conn
	}
	want := func(state ConnState) {
		t.Helper()
		if s := <-told; s.State != state {
			t.Errorf("told %+v, want %s", s, state)
		}
	}
	first := comes(t, l, "one")
	conn := accepted("one")
	first.Close()
	want(Reconnecting)
	comes(t, l, "two")
	accepted("two")
	comes(t, l, "one") // it seems to be well
	want(Connected)
	third := comes(t, l, "one")
	want(Reconnecting)
	want(Connected)
	conn.Close()
	<-third.Done()
	comes(t, l, "one")
	if accepted("one") == conn {
		t.Error("a Conn that was closed is back")
	}
}

// TestListenOnly: where there is but one agent, another one comes after it, once it is gone.
func TestListenOnly(t *testing.T) {
	told := make(chan Status, 10)
	l := mustListen(t, Options{Token: testToken(t), Reconnect: time.Minute, OnStatus: func(s Status) { told <- s }})
	first := comes(t, l, "one")
	conn, err := l.AcceptOnly(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	comes(t, l, "gone again").Close()
	comes(t, l, "two")
	if got := conn.Peer().Instance; got != "one" {
		t.Errorf("agent %q while there is one", got)
	}
	first.Close()
	for conn.Peer().Instance != "two" {
		if s := <-told; s.State == Lost {
			t.Fatalf("told %+v, want the next agent", s)
		}
	}
	waits := []*transport.Session{comes(t, l, "three"), comes(t, l, "four")} // while the second is there
	l.Close()
	for _, s := range waits {
		<-s.Done()
	}
}

// TestListenerGone: nobody waits for agents of a listener that was closed.
func TestListenerGone(t *testing.T) {
	token := testToken(t)
	l := mustListen(t, Options{Token: token, Reconnect: time.Minute})
	agent, err := dialingAgent(t, l, "one", token)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	l.Close()
	agent.Close()
	<-conn.gone
	if err := conn.Cancel(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "listens") {
		t.Errorf("a request afterwards: %v, want that nobody listens", err)
	}
}

func TestListenEnds(t *testing.T) {
	l := mustListen(t, Options{Token: testToken(t)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Accept(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Accept with a context that has ended: %v", err)
	}
	// An agent for which nobody asks leaves when the listener closes.
	agent, err := dialingAgent(t, l, "unasked", testToken(t))
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	failed := make(chan error, 1)
	silent, err := net.Dial("tcp", strings.TrimPrefix(l.Address(), "tcp:"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if _, err := io.ReadFull(silent, make([]byte, 8)); err != nil { // its handshake has begun
		t.Fatal(err)
	}
	l.Close()
	l.Close()
	<-agent.Done()
	go func() {
		_, err := l.Accept(t.Context())
		failed <- err
	}()
	if err := <-failed; !errors.Is(err, net.ErrClosed) || !strings.Contains(err.Error(), l.Address()) {
		t.Errorf("Accept after Close: %v, want net.ErrClosed and the address", err)
	}
}

func TestListenRefuses(t *testing.T) {
	if _, err := Listen(t.Context(), "tcp:127.0.0.1:0", Options{}); !errors.Is(err, transport.ErrTokenNeeded) {
		t.Errorf("without a token: %v, want ErrTokenNeeded", err)
	}
	if _, err := Listen(t.Context(), "tcp:0.0.0.0:0", Options{Token: testToken(t)}); !errors.Is(err, transport.ErrInsecureTCP) {
		t.Errorf("on every interface: %v, want ErrInsecureTCP", err)
	}
	bad := (*transport.AddressError)(nil)
	if _, err := Listen(t.Context(), os.DevNull, Options{}); !errors.As(err, &bad) {
		t.Errorf("no address: %v, want an *AddressError", err)
	}
}
