//go:build linux

package test

// This file is case C31: strangers at a socket that everybody can reach.

import (
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport"
)

// dialTCP connects to an agent's TCP port, below everything of ours.
func dialTCP(t testing.TB, a *agent) net.Conn {
	t.Helper()
	_, target, _ := strings.Cut(a.addr, ":")
	conn, err := net.Dial("tcp", target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// deadline is longer than a handshake may take.
const deadline = 20 * time.Second

func TestC31WrongToken(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a := listenOn(t, "tcp:127.0.0.1:0", "--token-file", s.path)
	wrong, err := transport.NewToken([]byte(rand.Text()))
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]transport.Token{"wrong": wrong, "none": {}} {
		_, err := client.Dial(t.Context(), a.addr, client.Options{Token: token})
		var he *transport.HandshakeError
		if !errors.As(err, &he) || he.Reason != transport.ReasonAuth {
			t.Errorf("%s: error %v, want one of authentication", name, err)
		}
	}
	if o := run(t, a.dialAs(t, client.Options{Token: s.token(t)}), client.Spec{Command: "echo in"}); o.text() != "in\n" {
		t.Errorf("with the right one: %q", o.text())
	}
}

// TestC31Strangers lets 1000 connections that say nothing, and some that say something else, wait
// at the agent. Each is closed within the deadline, and a right client gets in meanwhile.
func TestC31Strangers(t *testing.T) {
	t.Parallel()
	const idle = 1000
	s := newSecret(t)
	ca := newAuthority(t)
	cert, key := ca.pair(t, "agent", time.Hour)
	for _, way := range []struct {
		addr  string
		flags []string
	}{
		{"tcp:127.0.0.1:0", nil},
		{"tls:127.0.0.1:0", []string{"--tls-cert", cert, "--tls-key", key}},
	} {
		t.Run(way.addr[:3], func(t *testing.T) {
			t.Parallel()
			a := listenOn(t, way.addr, append(way.flags, "--token-file", s.path)...)
			begun := time.Now()
			var strangers []net.Conn
			for range idle {
				strangers = append(strangers, dialTCP(t, a))
			}
			for _, text := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "SSH-2.0-OpenSSH_9.6\r\n", "\x00", clientMagic, agentMagic} {
				conn := dialTCP(t, a)
				if _, err := io.WriteString(conn, text); err != nil {
					t.Fatal(err)
				}
				strangers = append(strangers, conn)
			}
			conn := a.dialAs(t, ca.options(t, s, "", ""))
			if o := run(t, conn, client.Spec{Command: "echo in"}); o.text() != "in\n" {
				t.Errorf("a right client got %q", o.text())
			}
			t.Logf("a right client had its result %v after the first of them", time.Since(begun))
			var open int
			eventually(t, "the agent has let go of all but those that may wait", func() bool {
				open = openFiles(t, a.pid)["socket"]
				return open <= transport.MaxWaiting+20
			}, &open)
			var closed sync.WaitGroup
			for i, conn := range strangers {
				closed.Go(func() { checkClosed(t, i, conn) })
			}
			closed.Wait()
			if peak := peakMemory(t, a.pid); peak > mostMemory {
				t.Errorf("the agent's peak memory is %d bytes", peak)
			}
		})
	}
}

// checkClosed waits for the other side to close.
func checkClosed(t *testing.T, i int, conn net.Conn) {
	if err := conn.SetReadDeadline(time.Now().Add(deadline)); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("stranger %d is still connected after %v", i, deadline)
	}
}

// TestOldClient says what a client of version 1 is told, and one of the future.
func TestOldClient(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	a := listenOn(t, "tcp:127.0.0.1:0", "--token-file", s.path)
	for versions, want := range map[string]string{
		`"minVersion":1,"maxVersion":1`: `"code":"version-too-old"`,
		`"minVersion":9,"maxVersion":9`: `"code":"version-too-new"`,
	} {
		conn := dialTCP(t, a)
		if _, err := io.WriteString(conn, clientMagic+hello(`{`+versions+`,"auth":["none"],"nonce":"`+nonce+`"}`)); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(deadline)); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(answer), agentMagic) || !strings.Contains(string(answer), want) || !strings.Contains(string(answer), "agent speaks versions 2 to 2") {
			t.Errorf("%s: %q, %v; want %s", versions, answer, err, want)
		}
	}
}
