package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
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
	{"terminal, 7 bits", "\tEXEC<\r\n", false, ReasonNotExecagent, []string{`"\tEXEC<\r\n"`}},
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

// helloBytes is a hello as encodeHello makes it, with any JSON.
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
	{"smallest", `{"minVersion":1,"maxVersion":1,"nonce":` + goodNonce + `,"auth":["none"]}`, ""},
	{"future fields", `{"minVersion":1,"maxVersion":1,"nonce":` + goodNonce + `,"auth":["hmac-sha256","none"],"colour":"red","proof":{"a":[1]}}`, ""},
	{"wider range", `{"minVersion":1,"maxVersion":99,"nonce":` + goodNonce + `,"auth":["none"]}`, ""},
	{"too new", `{"minVersion":2,"maxVersion":3,"nonce":` + goodNonce + `,"auth":["none"]}`, ReasonVersionTooNew},
	{"no auth in common", `{"minVersion":1,"maxVersion":1,"nonce":` + goodNonce + `,"auth":["hmac-sha256"]}`, ReasonAuth},
	{"no auth", `{"minVersion":1,"maxVersion":1,"nonce":` + goodNonce + `}`, ReasonAuth},
	{"range upside down", `{"minVersion":2,"maxVersion":1,"nonce":` + goodNonce + `,"auth":["none"]}`, ReasonMalformed},
	{"no versions", `{"nonce":` + goodNonce + `,"auth":["none"]}`, ReasonMalformed},
	{"no nonce", `{"minVersion":1,"maxVersion":1,"auth":["none"]}`, ReasonMalformed},
	{"short nonce", `{"minVersion":1,"maxVersion":1,"nonce":"AAEC","auth":["none"]}`, ReasonMalformed},
	{"negative cap", `{"minVersion":1,"maxVersion":1,"nonce":` + goodNonce + `,"auth":["none"],"maxPayload":-1}`, ReasonMalformed},
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
				if err != nil || answer.problem() != nil || answer.Error != nil || s.Peer().Version != 1 {
					t.Fatalf("Server: %v; answer %s: %v", err, text, answer.problem())
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
	{"smallest", `{"version":1,"nonce":` + goodNonce + `,"auth":"none"}`, "", nil},
	{"future fields", `{"version":1,"nonce":` + goodNonce + `,"auth":"none","proof":"x","software":"s"}`, "", nil},
	{"too old", `{"error":{"code":"version-too-old","message":"agent speaks 3"}}`, ReasonVersionTooOld, []string{"agent speaks 3", "upgrade the client"}},
	{"too new", `{"error":{"code":"version-too-new","message":"agent speaks 0"}}`, ReasonVersionTooNew, []string{"agent speaks 0", "upgrade the agent"}},
	{"busy", `{"error":{"code":"busy","message":"64 connections"}}`, ReasonBusy, []string{"64 connections", "later"}},
	{"refused", `{"error":{"code":"refused","message":"go away\n\u001b[31m"}}`, ReasonRefused, []string{`"go away\n\x1b[31m"`}},
	{"unknown code", `{"error":{"code":"too-tired","message":"zzz"}}`, ReasonRefused, []string{`"too-tired"`, `"zzz"`}},
	{"code of ours that is never sent", `{"error":{"code":"timeout","message":"zzz"}}`, ReasonRefused, []string{`"timeout"`}},
	{"empty error", `{"error":{}}`, ReasonRefused, nil},
	{"long message", `{"error":{"code":"busy","message":"` + strings.Repeat("é", 1500) + `"}}`, ReasonBusy, nil},
	{"version 0", `{"nonce":` + goodNonce + `,"auth":"none"}`, ReasonMalformed, nil},
	{"version not offered", `{"version":2,"nonce":` + goodNonce + `,"auth":"none"}`, ReasonMalformed, []string{"version 2"}},
	{"method not offered", `{"version":1,"nonce":` + goodNonce + `,"auth":"hmac"}`, ReasonMalformed, []string{`"hmac"`}},
	{"no nonce", `{"version":1,"auth":"none"}`, ReasonMalformed, nil},
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
	f.Fuzz(func(t *testing.T, in []byte) { fuzzHandshake(t, Server, in) })
}

func FuzzClientHandshake(f *testing.F) {
	for _, c := range agentHellos {
		f.Add(helloBytes(agentMagic, c.text))
	}
	for _, s := range strangers {
		f.Add([]byte(s.sends))
	}
	f.Fuzz(func(t *testing.T, in []byte) { fuzzHandshake(t, Client, in) })
}

// fuzzHandshake hears in and then the end. It must come to a session or to a
// HandshakeError, and end.
func fuzzHandshake(t *testing.T, role func(context.Context, io.ReadWriteCloser, Options) (*Session, error), in []byte) {
	s, err := role(context.Background(), &scripted{Reader: bytes.NewReader(in)}, Options{})
	if err == nil {
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
func (*scripted) Close() error                { return nil }
