//go:build linux

package test

// This file is an agent in this process, and a client of it without the client library.

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/execagent"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
	"go.uber.org/goleak"
)

// embedded is an agent in this process, so that a goroutine it leaks is seen.
type embedded struct {
	agent   *execagent.Agent
	serving sync.WaitGroup
}

// embed returns an agent that the test's end closes, after which nothing of it may be left.
func embed(t *testing.T) *embedded {
	t.Helper()
	before := goleak.IgnoreCurrent()
	a, err := execagent.New(execagent.Options{SpillDir: t.TempDir() + "/spill"})
	if err != nil {
		t.Fatal(err)
	}
	e := &embedded{agent: a}
	t.Cleanup(func() {
		if err := e.agent.Close(); err != nil {
			t.Errorf("closing the agent: %v", err)
		}
		e.serving.Wait()
		goleak.VerifyNone(t, before)
	})
	return e
}

// connect returns the client's end of a connection that the agent serves.
func (e *embedded) connect() io.ReadWriteCloser {
	here, there := transport.Pipe()
	e.serving.Go(func() { _ = e.agent.ServeConn(context.Background(), there) })
	return here
}

// stranger is a client without the client library. It acknowledges what it reads.
type stranger struct {
	*transport.Session
	control *transport.Stream
	watcher uint64 // the last number given out
}

// strangerStream is one of its streams.
type strangerStream struct {
	*transport.Stream
	client  *stranger
	watcher uint64 // 0 when it has none
}

func (e *embedded) stranger(t *testing.T) *stranger {
	t.Helper()
	session, err := transport.Client(t.Context(), e.connect(), transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	s := &stranger{Session: session}
	s.control = s.open(t, protocol.KindOpen, `{"type":"control"}`).Stream
	return s
}

// dial is a connection of a client that means well.
func (e *embedded) dial(t *testing.T) *client.Conn {
	t.Helper()
	conn, err := client.NewConn(t.Context(), e.connect(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// open opens a stream and sends a frame on it.
func (s *stranger) open(t *testing.T, kind transport.Kind, payload string) *strangerStream {
	t.Helper()
	stream, err := s.Session.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stream.Close() })
	send(t, stream, kind, payload)
	return &strangerStream{Stream: stream, client: s}
}

// start opens a stream that starts a command.
func (s *stranger) start(t *testing.T, id, command string) *strangerStream {
	t.Helper()
	s.watcher++
	stream := s.open(t, protocol.KindOpen, string(protocol.Encode(protocol.Open{
		Type: protocol.OpenStart, Watcher: s.watcher, Spec: &client.Spec{ID: id, Command: command},
	})))
	stream.watcher = s.watcher
	return stream
}

func send(t *testing.T, stream *transport.Stream, kind transport.Kind, payload string) {
	t.Helper()
	if err := stream.WriteFrame(kind, []byte(payload)); err != nil {
		t.Errorf("sending kind %d, %.100q: %v", kind, payload, err)
	}
}

// await reads frames until one of a kind comes, and returns its payload, or until the stream
// ends, which is an error.
func (st *strangerStream) await(t *testing.T, want transport.Kind) (string, error) {
	t.Helper()
	if err := st.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	for {
		kind, payload, err := st.ReadFrame()
		if err != nil || kind == want {
			return string(payload), err
		}
		if kind == protocol.KindBatch {
			st.client.acknowledge(t, st.watcher, 1)
		}
	}
}

func (s *stranger) acknowledge(t *testing.T, watcher uint64, count int) {
	t.Helper()
	send(t, s.control, protocol.KindRequest, string(protocol.Encode(protocol.Request{
		Type: protocol.RequestAck, Watcher: watcher, Count: count,
	})))
}
