// This file holds the tests of tokens in the handshake: who gets in, who does not, and what a
// stranger in between or before it learns.

package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustToken(t testing.TB, text string) Token {
	t.Helper()
	token, err := NewToken([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

const (
	rightToken = "the right one: 0123456789"
	wrongToken = "the wrong one: 0123456789"
)

// way is a connection by an address of a kind, with roles as usual or the agent dialing.
type way struct {
	kind    string
	dialOut bool
}

var ways = []way{{SchemeTCP, false}, {SchemeTCP, true}, {SchemeTLS, false}, {SchemeTLS, true}, {SchemeUnix, false}, {SchemeInproc, false}}

// ends makes a connection. The options are for the certificates.
func (w way) ends(t testing.TB, ca *authority) (client, agent io.ReadWriteCloser) {
	t.Helper()
	if w.kind == SchemeInproc {
		return Pipe()
	}
	addr := Address{w.kind, "127.0.0.1:0"}
	server := ca.issue(t, "server", 1e12)
	listenOpts := Options{TLS: mustLoad(t, server), Token: mustToken(t, rightToken)}
	dialOpts := Options{TLS: mustLoad(t, TLSFiles{CA: ca.CA, ServerName: "localhost"})}
	if w.kind == SchemeUnix {
		addr = Address{SchemeUnix, t.TempDir() + "/s"}
	}
	l, err := Listen(testContext(t), addr, listenOpts)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan io.ReadWriteCloser, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}()
	dialed, err := DialConn(testContext(t), l.Address(), dialOpts)
	if err != nil {
		t.Fatal(err)
	}
	if w.dialOut {
		return <-accepted, dialed
	}
	return dialed, <-accepted
}

// meet lets two sides shake hands, and returns both errors.
func meet(t testing.TB, clientConn, agentConn io.ReadWriteCloser, clientOpts, agentOpts Options) (clientErr, agentErr error) {
	t.Helper()
	served := make(chan error, 1)
	go func() {
		s, err := Server(testContext(t), agentConn, agentOpts)
		if err == nil {
			s.Close()
		}
		served <- err
	}()
	s, err := Client(testContext(t), clientConn, clientOpts)
	if err == nil {
		<-s.Done() // the agent closes
		s.Close()
	}
	return err, <-served
}

func TestTokens(t *testing.T) {
	none, right, wrong := Token{}, mustToken(t, rightToken), mustToken(t, wrongToken)
	ca := newAuthority(t)
	for _, c := range []struct {
		name          string
		client, agent Token
		says          []string // of both errors; nil for success
	}{
		{"both", right, right, nil},
		{"neither", none, none, nil},
		{"other", wrong, right, []string{"token", "--token-file"}},
		{"client has none", none, right, []string{"this agent asks for a token", "--token-file"}},
		{"agent has none", right, none, []string{"this agent has no token"}},
	} {
		for _, w := range ways {
			name := c.name + "/" + w.kind
			if w.dialOut {
				name += " out"
			}
			t.Run(name, func(t *testing.T) {
				clientConn, agentConn := w.ends(t, ca)
				clientErr, agentErr := meet(t, clientConn, agentConn, Options{Token: c.client}, Options{Token: c.agent, Instance: "i"})
				if c.says == nil {
					if err := errors.Join(clientErr, agentErr); err != nil {
						t.Fatal(err)
					}
					return
				}
				checkHandshakeError(t, clientErr, ReasonAuth, c.says)
				checkHandshakeError(t, agentErr, ReasonAuth, nil)
				for _, err := range []error{clientErr, agentErr} {
					if strings.Contains(err.Error(), "right one") || strings.Contains(err.Error(), "wrong one") {
						t.Errorf("the error shows a token: %v", err)
					}
				}
			})
		}
	}
}

// tap records both directions of a connection and may change what passes.
type tap struct {
	io.ReadWriteCloser
	in, out bytes.Buffer
	change  func(sent []byte) []byte
}

func (c *tap) Read(p []byte) (int, error) {
	n, err := c.ReadWriteCloser.Read(p)
	c.in.Write(p[:n])
	return n, err
}

func (c *tap) Write(p []byte) (int, error) {
	c.out.Write(p)
	sent := p
	if c.change != nil {
		sent = c.change(bytes.Clone(p))
	}
	if _, err := c.ReadWriteCloser.Write(sent); err != nil {
		return 0, err
	}
	return len(p), nil
}

func TestTokenIsNotOnTheWire(t *testing.T) {
	token := mustToken(t, rightToken)
	conn, agentConn := Pipe()
	c := &tap{ReadWriteCloser: conn}
	if err := errors.Join(meet(t, c, &tap{ReadWriteCloser: agentConn}, Options{Token: token}, Options{Token: token})); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"in": c.in.Bytes(), "out": c.out.Bytes()} {
		if len(b) == 0 || bytes.Contains(b, []byte(rightToken)) || bytes.Contains(b, []byte("dGhlIHJpZ2h0")) {
			t.Errorf("%s: %d bytes, of which some are the token: %q", name, len(b), b)
		}
	}
}

// TestChangedHandshake changes one bit of a hello or of a proof. No change may go unnoticed by
// both.
func TestChangedHandshake(t *testing.T) {
	token := mustToken(t, rightToken)
	rapid.Check(t, func(rt *rapid.T) {
		fromClient := rapid.Bool().Draw(rt, "fromClient")
		message := rapid.IntRange(0, 1).Draw(rt, "message")
		at := rapid.IntRange(0, 300).Draw(rt, "at")
		if message == 1 {
			at = 12 + at%32 // in the proof; its JSON may be spelt in several ways
		}
		bit := byte(1) << rapid.IntRange(0, 7).Draw(rt, "bit")
		n, changed := 0, false
		change := func(p []byte) []byte {
			if n == message && at < len(p) {
				p[at] ^= bit
				changed = true
			}
			n++
			return p
		}
		conn, agentConn := Pipe()
		client, agent := &tap{ReadWriteCloser: conn}, &tap{ReadWriteCloser: agentConn}
		if fromClient {
			client.change = change
		} else {
			agent.change = change
		}
		// A changed length makes a side wait for what does not come: the other's end ends it.
		clientErr, agentErr := meetUntilOneFails(client, agent, Options{Token: token}, Options{Token: token, Instance: "i", Software: "s"})
		if changed && clientErr == nil && agentErr == nil {
			rt.Fatalf("byte %d ^ %#x of message %d changed, and nobody noticed", at, bit, message)
		}
		if !changed && (clientErr != nil || agentErr != nil) {
			rt.Fatalf("nothing changed: %v, %v", clientErr, agentErr)
		}
	})
}

// meetUntilOneFails is meet with an end for the side that waits when the other has given up, and
// for both when both wait.
func meetUntilOneFails(client, agent io.ReadWriteCloser, clientOpts, agentOpts Options) (clientErr, agentErr error) {
	const patience = 200e6 // for lengths that were changed: both wait
	clientOpts.HandshakeTimeout, agentOpts.HandshakeTimeout = patience, patience
	served := make(chan error, 1)
	go func() {
		s, err := Server(context.Background(), agent, agentOpts)
		if err == nil {
			s.Close()
		}
		agent.Close()
		served <- err
	}()
	s, err := Client(context.Background(), client, clientOpts)
	if err == nil {
		s.Close()
	}
	client.Close()
	return err, <-served
}

// TestStrangerLearnsNothing connects to whoever accepts and looks for a proof among what it says
// to one who proves nothing.
func TestStrangerLearnsNothing(t *testing.T) {
	token := mustToken(t, rightToken)
	t.Run("agent accepts", func(t *testing.T) {
		conn, agentConn := Pipe()
		served := make(chan error, 1)
		go func() {
			_, err := Server(testContext(t), agentConn, Options{Token: token})
			served <- err
		}()
		conn.Write(helloBytes(clientMagic, `{"minVersion":2,"maxVersion":2,"nonce":`+goodNonce+`,"auth":["hmac-sha256"],"channel":"inproc"}`))
		readBack(t, conn, agentMagic[:])
		// Its own words back are no proof either.
		conn.Write(messageBytes(nil, []byte(`{"proof":`+goodNonce+`}`)))
		if text := readBack(t, conn, nil); bytes.Contains(text, []byte("proof")) || !bytes.Contains(text, []byte(`"error"`)) {
			t.Errorf("the agent answered %s", text)
		}
		checkHandshakeError(t, <-served, ReasonAuth, []string{"another token"})
	})
	t.Run("client accepts", func(t *testing.T) {
		l, err := Listen(testContext(t), Address{SchemeTCP, "127.0.0.1:0"}, Options{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		failed := make(chan error, 1)
		go func() {
			conn, err := l.Accept()
			if err == nil {
				_, err = Client(testContext(t), conn, Options{Token: token})
			}
			failed <- err
		}()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.Write(helloBytes(agentMagic, `{"version":2,"nonce":`+goodNonce+`,"auth":"hmac-sha256","channel":"tcp","first":"client"}`))
		checkHandshakeError(t, <-failed, ReasonMalformed, nil)
		if all, _ := io.ReadAll(conn); bytes.Contains(all, []byte("proof")) {
			t.Errorf("the client said %q", all)
		}
	})
}

// readBack reads a message behind a magic.
func readBack(t *testing.T, r io.Reader, magic []byte) []byte {
	t.Helper()
	head := make([]byte, len(magic)+2)
	if _, err := io.ReadFull(r, head); err != nil || !bytes.HasPrefix(head, magic) {
		t.Fatalf("read %q, %v; want %q first", head, err, magic)
	}
	text := make([]byte, binary.BigEndian.Uint16(head[len(magic):]))
	if _, err := io.ReadFull(r, text); err != nil || !json.Valid(text) {
		t.Fatalf("read %q, %v; want JSON", text, err)
	}
	return text
}

// TestRelay joins two connections of different kinds, and two of TLS, as somebody in the middle
// would, with both ends holding the right token.
func TestRelay(t *testing.T) {
	token := mustToken(t, rightToken)
	ca := newAuthority(t)
	for _, c := range []struct {
		client, agent way
		says          string // of the client; empty if they may meet
	}{
		{way{SchemeTCP, false}, way{SchemeUnix, false}, "somebody is between"},
		{way{SchemeTLS, false}, way{SchemeTCP, false}, "somebody is between"},
		{way{SchemeTCP, false}, way{SchemeTLS, false}, "somebody is between"},
		{way{SchemeTLS, false}, way{SchemeTLS, false}, "somebody is between"},
		{way{SchemeTCP, false}, way{SchemeTCP, false}, ""}, // such as ssh -L: the carrier is plain anyway
	} {
		t.Run(c.client.kind+" "+c.agent.kind, func(t *testing.T) {
			clientConn, near := c.client.ends(t, ca)
			far, agentConn := c.agent.ends(t, ca)
			done := make(chan struct{}, 2)
			pass := func(to, from io.ReadWriteCloser) {
				io.Copy(to, from)
				to.Close()
				done <- struct{}{}
			}
			// Through the raw connections: the one in the middle has both plain texts.
			go pass(near.(*link).Conn, far.(*link).Conn)
			go pass(far.(*link).Conn, near.(*link).Conn)
			clientErr, agentErr := meet(t, clientConn, agentConn, Options{Token: token}, Options{Token: token})
			<-done
			<-done
			if c.says == "" {
				if err := errors.Join(clientErr, agentErr); err != nil {
					t.Error(err)
				}
				return
			}
			checkHandshakeError(t, clientErr, ReasonAuth, []string{c.says})
			checkHandshakeError(t, agentErr, ReasonAuth, nil)
		})
	}
}
