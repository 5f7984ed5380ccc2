// This file holds the tests of hellos, right and wrong, on both sides, and their fuzzing.

package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// helloBytes is a hello as encodeMessage makes it, with any JSON.
func helloBytes(magic [magicSize]byte, text string) []byte {
	return append(binary.BigEndian.AppendUint16(magic[:], uint16(len(text))), text...)
}

const goodNonce = `"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="`

// clientHellos are what a client may say, right and wrong, and the reason the
// agent gives in its own error and in its answer. They are fuzz seeds as well.
var clientHellos = []struct {
	name, text string
	reason     Reason // empty for success
}{
	{"smallest", `{"minVersion":2,"maxVersion":2,"nonce":` + goodNonce + `,"auth":["none"]}`, ""},
	{"future fields", `{"minVersion":2,"maxVersion":2,"nonce":` + goodNonce + `,"auth":["hmac-sha256","none"],"colour":"red","proof":{"a":[1]}}`, ""},
	{"wider range", `{"minVersion":1,"maxVersion":99,"nonce":` + goodNonce + `,"auth":["none"]}`, ""},
	{"too old", `{"minVersion":1,"maxVersion":1,"nonce":` + goodNonce + `,"auth":["none"]}`, ReasonVersionTooOld},
	{"too new", `{"minVersion":3,"maxVersion":4,"nonce":` + goodNonce + `,"auth":["none"]}`, ReasonVersionTooNew},
	{"insists on a token", `{"minVersion":2,"maxVersion":2,"nonce":` + goodNonce + `,"auth":["hmac-sha256"]}`, ReasonAuth},
	{"no auth in common", `{"minVersion":2,"maxVersion":2,"nonce":` + goodNonce + `,"auth":["password"]}`, ReasonAuth},
	{"no auth", `{"minVersion":2,"maxVersion":2,"nonce":` + goodNonce + `}`, ReasonAuth},
	{"range upside down", `{"minVersion":3,"maxVersion":2,"nonce":` + goodNonce + `,"auth":["none"]}`, ReasonMalformed},
	{"no versions", `{"nonce":` + goodNonce + `,"auth":["none"]}`, ReasonMalformed},
	{"no nonce", `{"minVersion":2,"maxVersion":2,"auth":["none"]}`, ReasonMalformed},
	{"short nonce", `{"minVersion":2,"maxVersion":2,"nonce":"AAEC","auth":["none"]}`, ReasonMalformed},
	{"negative cap", `{"minVersion":2,"maxVersion":2,"nonce":` + goodNonce + `,"auth":["none"],"maxPayload":-1}`, ReasonMalformed},
	{"long number", `{"minVersion":` + strings.Repeat("7", 4000) + `}`, ReasonMalformed},
	{"no JSON", "\x00\x01\x02", ReasonMalformed},
	{"empty", "", ReasonMalformed},
	{"wrong type", `[1,2,3]`, ReasonMalformed},
	{"too long", strings.Repeat(" ", maxHello) + `{}`, ReasonMalformed},
}

// TestClientHellos lets a client made by hand talk to the agent, and reads the
// answer off the wire.
func TestClientHellos(t *testing.T) {
	for _, c := range clientHellos {
		t.Run(c.name, func(t *testing.T) {
			conn, agentConn := Pipe()
			defer conn.Close()
			if _, err := conn.Write(helloBytes(clientMagic, c.text)); err != nil {
				t.Fatal(err)
			}
			s, err := Server(testContext(t), agentConn, Options{Software: "a", Instance: "i"})
			if err == nil {
				defer s.Close()
			}
			var head [magicSize + 2]byte
			if _, err := io.ReadFull(conn, head[:]); err != nil || [magicSize]byte(head[:]) != agentMagic {
				t.Fatalf("the agent answered %q, %v; want its magic", head, err)
			}
			text := make([]byte, binary.BigEndian.Uint16(head[magicSize:]))
			io.ReadFull(conn, text)
			var answer agentHello
			if err := json.Unmarshal(text, &answer); err != nil {
				t.Fatalf("answer %q: %v", text, err)
			}
			if c.reason == "" {
				if err != nil || answer.problem(authNone) != nil || answer.Error != nil || s.Peer().Version != MaxVersion {
					t.Fatalf("Server: %v; answer %s: %v", err, text, answer.problem(authNone))
				}
				return
			}
			checkHandshakeError(t, err, c.reason, nil)
			if answer.Error == nil || answer.Error.Code != c.reason || answer.Error.Message == "" {
				t.Errorf("answer %s, want the error %q", text, c.reason)
			}
		})
	}
}

// agentHellos are the same for what an agent may answer.
var agentHellos = []struct {
	name, text string
	reason     Reason
	says       []string
}{
	{"smallest", `{"version":2,"nonce":` + goodNonce + `,"auth":"none"}`, "", nil},
	{"future fields", `{"version":2,"nonce":` + goodNonce + `,"auth":"none","proof":"x","software":"s"}`, "", nil},
	{"too old", `{"error":{"code":"version-too-old","message":"agent speaks 3"}}`, ReasonVersionTooOld, []string{"agent speaks 3", "upgrade the client"}},
	{"too new", `{"error":{"code":"version-too-new","message":"agent speaks 0"}}`, ReasonVersionTooNew, []string{"agent speaks 0", "upgrade the agent"}},
	{"busy", `{"error":{"code":"busy","message":"64 connections"}}`, ReasonBusy, []string{"64 connections", "later"}},
	{"refused", `{"error":{"code":"refused","message":"go away\n\u001b[31m"}}`, ReasonRefused, []string{`"go away\n\x1b[31m"`}},
	{"unknown code", `{"error":{"code":"too-tired","message":"zzz"}}`, ReasonRefused, []string{`"too-tired"`, `"zzz"`}},
	{"code of ours that is never sent", `{"error":{"code":"timeout","message":"zzz"}}`, ReasonRefused, []string{`"timeout"`}},
	{"empty error", `{"error":{}}`, ReasonRefused, nil},
	{"long message", `{"error":{"code":"busy","message":"` + strings.Repeat("é", 1500) + `"}}`, ReasonBusy, nil},
	{"version 0", `{"nonce":` + goodNonce + `,"auth":"none"}`, ReasonMalformed, nil},
	{"version not offered", `{"version":3,"nonce":` + goodNonce + `,"auth":"none"}`, ReasonMalformed, []string{"version 3"}},
	{"method not offered", `{"version":2,"nonce":` + goodNonce + `,"auth":"hmac"}`, ReasonMalformed, []string{`"hmac"`}},
	{"no nonce", `{"version":2,"auth":"none"}`, ReasonMalformed, nil},
	{"no JSON", "nope", ReasonMalformed, nil},
	{"too long", strings.Repeat(" ", maxHello+1), ReasonMalformed, []string{"4097"}},
}

func TestAgentHellos(t *testing.T) {
	for _, c := range agentHellos {
		t.Run(c.name, func(t *testing.T) {
			clientConn, conn := Pipe()
			defer conn.Close()
			if _, err := conn.Write(helloBytes(agentMagic, c.text)); err != nil {
				t.Fatal(err)
			}
			s, err := Client(testContext(t), clientConn, Options{})
			if c.reason == "" {
				if err != nil {
					t.Fatal(err)
				}
				s.Close()
				return
			}
			checkHandshakeError(t, err, c.reason, c.says)
		})
	}
}

func TestCutHellos(t *testing.T) {
	whole := helloBytes(agentMagic, agentHellos[0].text)
	for n := magicSize; n < len(whole); n += 9 {
		clientConn, conn := Pipe()
		conn.Write(whole[:n])
		conn.Close()
		_, err := Client(testContext(t), clientConn, Options{})
		checkHandshakeError(t, err, ReasonClosed, []string{"within the agent's hello"})
	}
}

func TestHelloTooLongOfOurOwn(t *testing.T) {
	for _, role := range []string{"client", "agent"} {
		ours, peer := Pipe()
		peer.Write(helloBytes(clientMagic, clientHellos[0].text)) // for the agent
		_, err := dialRole(role)(testContext(t), ours, Options{Software: strings.Repeat("x", maxHello)})
		checkHandshakeError(t, err, ReasonMalformed, []string{"our own hello", "Options.Software"})
		peer.Close()
	}
}

func FuzzAgentHandshake(f *testing.F) {
	for _, c := range clientHellos {
		f.Add(helloBytes(clientMagic, c.text))
	}
	for _, s := range strangers {
		f.Add([]byte(s.sends))
	}
	f.Add(append(helloBytes(clientMagic, tokenHello), messageBytes(nil, []byte(`{"proof":`+goodNonce+`}`))...))
	f.Add(append(helloBytes(clientMagic, tokenHello), messageBytes(nil, []byte(`{"error":{"code":"auth"}}`))...))
	f.Fuzz(func(t *testing.T, in []byte) { fuzzHandshake(t, Server, in) })
}

func FuzzClientHandshake(f *testing.F) {
	for _, c := range agentHellos {
		f.Add(helloBytes(agentMagic, c.text))
	}
	for _, s := range strangers {
		f.Add([]byte(s.sends))
	}
	f.Add(append(helloBytes(agentMagic, tokenAnswer), messageBytes(nil, []byte(`{"proof":`+goodNonce+`}`))...))
	f.Add(append(helloBytes(agentMagic, tokenAnswer), messageBytes(nil, []byte(`{"error":{"code":"auth"}}`))...))
	f.Fuzz(func(t *testing.T, in []byte) { fuzzHandshake(t, Client, in) })
}

// Hellos of sides that have a token.
const (
	tokenHello  = `{"minVersion":2,"maxVersion":2,"nonce":` + goodNonce + `,"auth":["hmac-sha256"],"channel":"tcp"}`
	tokenAnswer = `{"version":2,"nonce":` + goodNonce + `,"auth":"hmac-sha256","channel":"tcp","first":"agent"}`
)

// fuzzHandshake hears in and then the end. It must come to a session or to a
// HandshakeError, and end; with a token to the latter, for in cannot have it.
func fuzzHandshake(t *testing.T, role func(context.Context, io.ReadWriteCloser, Options) (*Session, error), in []byte) {
	for _, opts := range []Options{{}, {Token: mustToken(t, rightToken)}} {
		fuzzOnce(t, role, in, opts)
	}
}

func fuzzOnce(t *testing.T, role func(context.Context, io.ReadWriteCloser, Options) (*Session, error), in []byte, opts Options) {
	s, err := role(context.Background(), &scripted{Reader: bytes.NewReader(in)}, opts)
	if err == nil {
		if !opts.Token.IsZero() {
			t.Error("a session without the token")
		}
		if v := s.Peer().Version; v < MinVersion || v > MaxVersion {
			t.Errorf("agreed on version %d", v)
		}
		s.Close()
		return
	}
	var he *HandshakeError
	if !errors.As(err, &he) || he.Reason == "" || he.Reason == ReasonTimeout {
		t.Errorf("error %v, want a *HandshakeError that is no timeout", err)
	}
	if strings.ContainsAny(err.Error(), "\n\x00") || len(err.Error()) > 2000 {
		t.Errorf("error %q, want it short and printable", err)
	}
}

// scripted is a peer that says what it has to say and ends, and hears nothing.
type scripted struct{ io.Reader }

func (*scripted) Write(p []byte) (int, error) { return len(p), nil }

func (*scripted) Close() error { return nil }
