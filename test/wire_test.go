//go:build linux

package test

// This file speaks to the agent's socket without the transport package: strangers, and frames
// that no writer of ours would send.

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/hashicorp/yamux"
)

// The two magics of the handshake.
const (
	clientMagic = "\x89EXEC>\r\n"
	agentMagic  = "\x89EXEC<\r\n"
)

// dialRaw connects to the agent's socket.
func dialRaw(t *testing.T, a *agent) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", strings.TrimPrefix(a.addr, "unix:"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// Whoever does not shake hands is shown the door.
func TestStrangers(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	good := a.dial(t)
	for _, c := range []struct {
		name, sends string
		answered    bool // with a refusal
	}{
		{"HTTP", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", false},
		{"a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", false},
		{"zeros", strings.Repeat("\x00", 1<<16), false},
		{"the agent's own greeting", agentMagic, false},
		{"a hello over the maximum", clientMagic + "\xff\xff" + strings.Repeat(" ", 1<<16), true},
		{"a hello that is no JSON", clientMagic + "\x00\x01{", true},
		{"a hello without a nonce", clientMagic + hello(`{"minVersion":2,"maxVersion":2,"auth":["none"]}`), true},
		{"versions of the future", clientMagic + hello(`{"minVersion":99,"maxVersion":100,"auth":["none"],"nonce":"`+nonce+`"}`), true},
		{"unknown authentication", clientMagic + hello(`{"minVersion":2,"maxVersion":2,"auth":["trust me"],"nonce":"`+nonce+`"}`), true},
		{"an end in the middle", clientMagic[:4], false},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dialRaw(t, a)
			// The agent may have closed before it has read everything.
			_, _ = io.WriteString(conn, c.sends)
			_ = conn.(*net.UnixConn).CloseWrite()
			answer, err := io.ReadAll(conn)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the agent neither answers nor closes")
			}
			if strings.HasPrefix(string(answer), agentMagic) != c.answered || strings.Contains(string(answer), `"error":`) != c.answered {
				t.Errorf("the agent answers %.200q, want a refusal: %v", answer, c.answered)
			}
			if o := run(t, good, client.Spec{Command: "echo on"}); o.text() != "on\n" {
				t.Errorf("another client: text %q, want %q", o.text(), "on\n")
			}
		})
	}
	t.Run("silence", func(t *testing.T) {
		conn := dialRaw(t, a)
		_, _ = io.WriteString(conn, clientMagic[:3])
		if o := run(t, a.dial(t), client.Spec{Command: "echo on"}); o.text() != "on\n" {
			t.Errorf("meanwhile: text %q, want %q", o.text(), "on\n")
		}
		if answer, err := io.ReadAll(conn); err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the agent waits for more than %v: %q", patience, answer)
		}
	})
}

var nonce = base64.StdEncoding.EncodeToString(make([]byte, 32))

// hello is a hello with its length.
func hello(text string) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(len(text)))) + text
}

// dialMux shakes hands with the agent and returns the bare multiplexer.
func dialMux(t *testing.T, a *agent) *yamux.Session {
	t.Helper()
	conn := dialRaw(t, a)
	if _, err := io.WriteString(conn, clientMagic+hello(`{"minVersion":2,"maxVersion":2,"auth":["none"],"nonce":"`+nonce+`"}`)); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, len(agentMagic)+2)
	if _, err := io.ReadFull(conn, head); err != nil || string(head[:len(agentMagic)]) != agentMagic {
		t.Fatalf("the agent's greeting is %q, %v", head, err)
	}
	answer := make([]byte, binary.BigEndian.Uint16(head[len(agentMagic):]))
	if _, err := io.ReadFull(conn, answer); err != nil || strings.Contains(string(answer), `"error"`) {
		t.Fatalf("the agent's hello is %q, %v", answer, err)
	}
	config := yamux.DefaultConfig()
	config.LogOutput = io.Discard
	config.EnableKeepAlive = false
	config.StreamCloseTimeout = time.Second // nobody waits for its timers otherwise
	mux, err := yamux.Client(&records{Conn: conn}, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mux.Close() })
	return mux
}

// records puts what is written into records with a checksum, and takes what is read out of
// them.
type records struct {
	net.Conn
	unread []byte
}

func (r *records) Write(p []byte) (int, error) {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(p)))
	sum := crc32.Checksum(append(b, p...), crc32.MakeTable(crc32.Castagnoli))
	_, err := r.Conn.Write(append(binary.BigEndian.AppendUint32(b, sum), p...))
	return len(p), err
}

func (r *records) Read(p []byte) (int, error) {
	if len(r.unread) == 0 {
		head := make([]byte, 6)
		if _, err := io.ReadFull(r.Conn, head); err != nil {
			return 0, err
		}
		r.unread = make([]byte, binary.BigEndian.Uint16(head))
		if _, err := io.ReadFull(r.Conn, r.unread); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]
	return n, nil
}

// frame is a frame's header and what follows it.
func frame(length uint32, kindAndFlag byte, payload string) string {
	return string(append(binary.BigEndian.AppendUint32(nil, length), kindAndFlag)) + payload
}

// Frames over the cap, that lie about what is in them, or that end early, end their stream. The
// memory they announce is not taken.
func TestHostileFrames(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	mux := dialMux(t, a)
	const compressed = 0x80
	// A Zstandard frame (RFC 8878, 3.1.1) of a window of 64 KiB that announces 1 GiB of content
	// and has one empty block.
	bomb := "\x28\xb5\x2f\xfd" + "\x80" + "\x30" + "\x00\x00\x00\x40" + "\x01\x00\x00"
	for _, c := range []struct {
		name, sends string
		ends        bool // by the agent, without waiting for more
	}{
		{"one byte over the cap", frame(protocol.MaxClientPayload+1, protocol.KindOpen, strings.Repeat(" ", 1<<15)), true},
		{"4 GiB", frame(1<<32-1, protocol.KindOpen, "x"), true},
		{"compressed 1 GiB", frame(uint32(len(bomb)), protocol.KindOpen|compressed, bomb), true},
		{"compressed nothing we know", frame(4, protocol.KindOpen|compressed, "bogus"[:4]), true},
		{"an end in the header", frame(100, protocol.KindOpen, "")[:3], false},
		{"an end in the payload", frame(100, protocol.KindOpen, "short"), false},
		{"nothing", "", false},
		{"the end of frames at once", frame(0, compressed, ""), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream, err := mux.OpenStream()
			if err != nil {
				t.Fatal(err)
			}
			if err := stream.SetDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(stream, c.sends); err != nil {
				t.Fatal(err)
			}
			if !c.ends {
				stream.Close()
			}
			if answer, err := io.ReadAll(stream); errors.Is(err, yamux.ErrTimeout) {
				t.Errorf("the agent does not end the stream; it sent %q", answer)
			}
			stream.Close()
			if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
				t.Errorf("another client: text %q, want %q", o.text(), "on\n")
			}
			if mux.IsClosed() {
				t.Fatal("the whole connection was closed")
			}
		})
	}
	if peak := peakMemory(t, a.pid); peak > mostMemory {
		t.Errorf("the agent's peak memory is %d bytes, want at most %d", peak, mostMemory)
	}
}
