// This file holds the tests of peers that speak something else.

package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// strangers are peers that speak something else, and what a handshake makes of
// them. They are fuzz seeds as well.
var strangers = []struct {
	name   string
	sends  string
	closes bool // or else waits
	reason Reason
	says   []string // in the error
}{
	{"http server", "HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\n", true, ReasonNotExecagent, []string{`"HTTP/1.1 400 Bad Request\r\nServer: nginx`}},
	{"http client", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", false, ReasonNotExecagent, []string{`"GET / HTTP/1.1\r\n`}},
	{"ssh", "SSH-2.0-OpenSSH_9.6\r\n", false, ReasonNotExecagent, []string{`"SSH-2.0-OpenSSH_9.6\r\n"`}},
	{"shell error", "bash: execagent: command not found\n", true, ReasonNotExecagent, []string{"command not found"}},
	{"tls", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", false, ReasonNotExecagent, []string{`\x16\x03\x01`}},
	{"one byte", "x", false, ReasonNotExecagent, []string{`"x"`}},
	{"one right byte, closes", "\x89", true, ReasonClosed, []string{`after "\x89"`}},
	{"terminal", "\x89EXEC<\n", false, ReasonNotExecagent, []string{"terminal", "-T"}},
	{"terminal, 7 bits", "\tEXEC<\r\n", false, ReasonNotExecagent, []string{`"\tEXEC<\r\n"`, "terminal"}},
	{"closes", "", true, ReasonClosed, []string{"ended before"}},
	{"silent", "", false, ReasonTimeout, []string{"sent nothing"}},
	{"half a magic", "\x89EXE", false, ReasonTimeout, []string{`sent only "\x89EXE"`}},
	{"long", strings.Repeat("z", 100<<10), true, ReasonNotExecagent, []string{`"zzzz`}},
}

func TestStrangers(t *testing.T) {
	for _, role := range []string{"client", "agent"} {
		for _, c := range conns {
			for _, s := range strangers {
				t.Run(role+"/"+c.name+"/"+s.name, func(t *testing.T) {
					t.Parallel()
					timeout := 30 * time.Second
					if s.reason == ReasonTimeout {
						timeout = 100 * time.Millisecond
					}
					ours, peer := c.make(t)
					gone := playStranger(peer, s.sends, s.closes)
					start := time.Now()
					_, err := dialRole(role)(testContext(t), ours, Options{HandshakeTimeout: timeout})
					took := time.Since(start)
					peer.Close()
					gone()
					checkHandshakeError(t, err, s.reason, s.says)
					if took > 20*time.Second {
						t.Errorf("took %v", took)
					}
				})
			}
		}
	}
}

func dialRole(role string) func(context.Context, io.ReadWriteCloser, Options) (*Session, error) {
	if role == "client" {
		return Client
	}
	return Server
}

// playStranger sends text whatever it hears, and then closes or stays. The
// returned function waits for it, after the connection is closed.
func playStranger(conn io.ReadWriteCloser, text string, closes bool) (wait func()) {
	done := make(chan struct{}, 2)
	go func() {
		io.Copy(io.Discard, conn)
		done <- struct{}{}
	}()
	go func() {
		io.WriteString(conn, text)
		if c, ok := conn.(*net.TCPConn); ok && closes {
			c.CloseWrite() // Close could reset, and take the text with it
		} else if closes {
			conn.Close()
		}
		done <- struct{}{}
	}()
	return func() { <-done; <-done }
}

func checkHandshakeError(t *testing.T, err error, reason Reason, says []string) {
	t.Helper()
	var got *HandshakeError
	if !errors.As(err, &got) {
		t.Fatalf("error %v (%T), want a *HandshakeError", err, err)
	}
	if got.Reason != reason {
		t.Errorf("reason %q in %q, want %q", got.Reason, err, reason)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
	if len(got.Sent) > maxQuote || len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\r\n\x00\x1b") {
		t.Errorf("error of %d bytes, quoting %d: %q; want it short and printable", len(err.Error()), len(got.Sent), err)
	}
}

func TestEchoIsNoAgent(t *testing.T) {
	for _, role := range []string{"client", "agent"} {
		ours, peer := Pipe()
		echoed := make(chan struct{})
		go func() {
			defer close(echoed)
			io.Copy(peer, peer)
		}()
		if role == "agent" { // an agent waits: two of them do not meet unless one speaks
			peer.Write(agentMagic[:])
		}
		_, err := dialRole(role)(testContext(t), ours, Options{})
		checkHandshakeError(t, err, ReasonNotExecagent, []string{"greets as we do"})
		peer.Close()
		<-echoed
	}
}
