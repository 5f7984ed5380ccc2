// This file holds the tests of handshakes that succeed, are cancelled or refused.

package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// conns are the kinds of connection a handshake must work and fail over: with
// deadlines and without, buffered and not, of the kernel and of this process.
var conns = []struct {
	name string
	make func(t testing.TB) (a, b io.ReadWriteCloser)
}{
	{"pipe", func(testing.TB) (a, b io.ReadWriteCloser) { return Pipe() }},
	{"net.Pipe", func(testing.TB) (a, b io.ReadWriteCloser) { return net.Pipe() }},
	{"tcp", tcpPair},
	{"files", filePair},
	{"no deadlines", func(testing.TB) (a, b io.ReadWriteCloser) {
		c, d := Pipe()
		return struct{ io.ReadWriteCloser }{c}, struct{ io.ReadWriteCloser }{d}
	}},
}

func tcpPair(t testing.TB) (a, b io.ReadWriteCloser) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, _ := l.Accept()
		accepted <- conn
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return conn, <-accepted
}

// filePair is two pipes of the kernel, as between a program and its child.
func filePair(t testing.TB) (a, b io.ReadWriteCloser) {
	t.Helper()
	r1, w1, err1 := os.Pipe()
	r2, w2, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return &stdio{in: r1, out: w2}, &stdio{in: r2, out: w1}
}

func TestHandshakeOverEveryKind(t *testing.T) {
	for _, c := range conns {
		t.Run(c.name, func(t *testing.T) {
			a, b := c.make(t)
			client, agent := connect(t, a, b, Options{Software: "c"}, Options{Software: "a", Instance: "i"})
			if got, want := client.Peer(), (Hello{"a", MaxVersion, "i"}); got != want {
				t.Errorf("client's Peer = %+v, want %+v", got, want)
			}
			ours, theirs := openPair(t, client, agent)
			sent := make(chan error, 1)
			go func() { sent <- ours.WriteFrame(1, noise(1<<20)) }()
			if _, payload, err := theirs.ReadFrame(); err != nil || !bytes.Equal(payload, noise(1<<20)) {
				t.Errorf("ReadFrame = %d bytes, %v; want 1 MiB as sent", len(payload), err)
			}
			if err := <-sent; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBytesAreCounted compares the counters with what the other side counted.
func TestBytesAreCounted(t *testing.T) {
	client, agent := connectPipe(t)
	ours, theirs := openPair(t, client, agent)
	if err := ours.WriteFrame(1, noise(5000)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := theirs.ReadFrame(); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	<-agent.Done()
	if sent, got := client.BytesWritten(), agent.BytesRead(); sent != got || sent < 5000 {
		t.Errorf("client wrote %d bytes, agent read %d; want the same, above 5000", sent, got)
	}
	if client.BytesRead() == 0 || client.BytesRead() > agent.BytesWritten() {
		t.Errorf("client read %d bytes of the %d written", client.BytesRead(), agent.BytesWritten())
	}
}

// TestCancelledHandshake cancels while the peer is silent, on connections with
// and without deadlines.
func TestCancelledHandshake(t *testing.T) {
	for _, role := range []string{"client", "agent"} {
		for _, c := range conns {
			t.Run(role+"/"+c.name, func(t *testing.T) {
				ours, peer := c.make(t)
				defer peer.Close()
				ctx, cancel := context.WithCancel(context.Background())
				failed := make(chan error, 1)
				go func() {
					_, err := dialRole(role)(ctx, ours, Options{HandshakeTimeout: time.Hour})
					failed <- err
				}()
				if role == "client" { // it has begun: it waits for an answer
					if _, err := io.ReadFull(peer, make([]byte, magicSize)); err != nil {
						t.Fatal(err)
					}
				}
				cancel()
				err := <-failed
				checkHandshakeError(t, err, ReasonCanceled, nil)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("error %v does not wrap context.Canceled", err)
				}
				if _, err := ours.Read(make([]byte, 1)); err == nil {
					t.Error("the connection is still open")
				}
			})
		}
	}
}

func TestRefuse(t *testing.T) {
	for _, c := range conns {
		t.Run(c.name, func(t *testing.T) {
			clientConn, agentConn := c.make(t)
			refused := make(chan error, 1)
			go func() {
				refused <- Refuse(testContext(t), agentConn, Options{}, ReasonBusy, "64 clients are connected")
			}()
			_, err := Client(testContext(t), clientConn, Options{})
			checkHandshakeError(t, err, ReasonBusy, []string{"64 clients are connected"})
			if err := <-refused; err != nil {
				t.Errorf("Refuse: %v", err)
			}
		})
	}
}
