//go:build linux

package execagent

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// served is an agent on a unix socket and a raw session to it.
func served(t *testing.T) (*Agent, *transport.Session) {
	t.Helper()
	addr := transport.Address{Scheme: transport.SchemeUnix, Target: filepath.Join(t.TempDir(), "sock")}
	l, err := transport.Listen(t.Context(), addr, transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := newAgent(t)
	done := make(chan error, 1)
	go func() { done <- a.Serve(l) }()
	conn, err := transport.DialConn(t.Context(), addr, transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := transport.Client(t.Context(), conn, transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := errors.Join(a.Close(), <-done); err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return a, s
}

// open makes a stream and sends its first frame.
func open(t *testing.T, s *transport.Session, kind transport.Kind, payload []byte) *transport.Stream {
	t.Helper()
	stream, err := s.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stream.Close() })
	if err := stream.WriteFrame(kind, payload); err != nil {
		t.Fatal(err)
	}
	return stream
}

// next reads frames until one of this kind.
func next(t *testing.T, s *transport.Stream, want transport.Kind) []byte {
	t.Helper()
	for {
		kind, payload, err := s.ReadFrame()
		if err != nil {
			t.Fatalf("waiting for a frame of kind %d: %v", want, err)
		}
		if kind == want {
			return payload
		}
	}
}

// TestBadStreams: what a stream may begin with, and that a bad one harms no other.
func TestBadStreams(t *testing.T) {
	_, s := served(t)
	good := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenStart, Watcher: 1, Spec: &protocol.Spec{ID: "good", Command: "cat", Stdin: protocol.StdinPipe}}))
	next(t, good, protocol.KindStarted)
	for _, c := range []struct {
		name    string
		kind    transport.Kind
		payload string
		want    protocol.Code
	}{
		{"not an open", protocol.KindStdin, `{}`, protocol.CodeBadRequest},
		{"not JSON", protocol.KindOpen, `{`, protocol.CodeBadRequest},
		{"an unknown field", protocol.KindOpen, `{"type":"start","watcher":2,"spec":{"id":"a","command":"x","warp":9}}`, protocol.CodeBadRequest},
		{"an unknown purpose", protocol.KindOpen, `{"type":"dance"}`, protocol.CodeBadRequest},
		{"an unknown mode", protocol.KindOpen, `{"type":"attach","watcher":2,"id":"good","mode":"telepathy"}`, protocol.CodeBadRequest},
		{"a start of nothing", protocol.KindOpen, `{"type":"start","watcher":2}`, protocol.CodeBadRequest},
		{"a watcher's number twice", protocol.KindOpen, `{"type":"attach","watcher":1,"id":"good"}`, protocol.CodeBadRequest},
		{"a bad spec", protocol.KindOpen, `{"type":"start","watcher":2,"spec":{"id":"a b","command":"x"}}`, protocol.CodeBadSpec},
		{"a bad limit", protocol.KindOpen, `{"type":"start","watcher":2,"spec":{"id":"a","command":"x","limits":{"maxLines":-1}}}`, protocol.CodeBadSpec},
		{"a missing directory", protocol.KindOpen, `{"type":"start","watcher":2,"spec":{"id":"a","command":"x","cwd":"/no/such"}}`, protocol.CodeStartFailed},
		{"a busy id", protocol.KindOpen, `{"type":"start","watcher":2,"spec":{"id":"good","command":"other"}}`, protocol.CodeIDInUse},
		{"an unknown id", protocol.KindOpen, `{"type":"attach","watcher":2,"id":"nobody"}`, protocol.CodeUnknownID},
	} {
		var f protocol.Failure
		payload := next(t, open(t, s, c.kind, []byte(c.payload)), protocol.KindFailure)
		if err := protocol.Decode(payload, &f); err != nil || f.Code != c.want || f.Message == "" {
			t.Errorf("%s: %s, %v, want code %s", c.name, payload, err, c.want)
		}
	}
	control := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenControl}))
	for _, r := range []protocol.Request{
		{Type: protocol.RequestAck, Watcher: 99, Count: -7},
		{Type: protocol.RequestAck, Watcher: 1, Count: 1 << 30},
		{Type: "sing", Seq: 1},
		{Type: protocol.RequestCancel, Seq: 2, ID: "nobody"},
	} {
		if err := control.WriteFrame(protocol.KindRequest, protocol.Encode(r)); err != nil {
			t.Fatal(err)
		}
	}
	for want := uint64(1); want <= 2; want++ {
		var r protocol.Reply
		if err := protocol.Decode(next(t, control, protocol.KindReply), &r); err != nil || r.Seq != want || r.Failure == nil {
			t.Errorf("reply %+v, %v, want a refusal of request %d", r, err, want)
		}
	}
	if err := good.WriteFrame(protocol.KindStdinEnd, protocol.AppendStdin(nil, 0, nil)); err != nil {
		t.Fatal(err)
	}
	var r protocol.Result
	if err := protocol.Decode(next(t, good, protocol.KindResult), &r); err != nil || r.ExitCode != 0 {
		t.Errorf("the neighbour: %+v, %v", r, err)
	}
}

// TestCloseTellsWatchers: an agent that is closed sends the results before it goes.
func TestCloseTellsWatchers(t *testing.T) {
	a, s := served(t)
	stream := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenStart, Watcher: 1, Spec: &protocol.Spec{ID: "x", Command: "sleep 600"}}))
	next(t, stream, protocol.KindBatch)
	closed := make(chan error, 1)
	go func() { closed <- a.Close() }()
	control := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenControl}))
	if err := control.WriteFrame(protocol.KindRequest, protocol.Encode(protocol.Request{Type: protocol.RequestAck, Watcher: 1, Count: 1})); err != nil {
		t.Fatal(err)
	}
	var r protocol.Result
	if err := protocol.Decode(next(t, stream, protocol.KindResult), &r); err != nil || r.Reason != protocol.ReasonCanceled {
		t.Errorf("%+v, %v", r, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestServeEndsWithListener: a listener that fails is an error, and the agent goes on.
func TestServeEndsWithListener(t *testing.T) {
	a := newAgent(t)
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "sock"))
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := a.Serve(l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	outcome(t, begin(t, a, protocol.Spec{Command: "true"}))
}

// TestForeignFrame: a frame that does not belong there ends the stream with a reason, whatever
// the stream carries; the command goes on.
func TestForeignFrame(t *testing.T) {
	a, s := served(t)
	for i, mode := range []protocol.Mode{protocol.ModeView, protocol.ModeRaw, protocol.ModeStream} {
		id := "x" + string(mode)
		stream := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenStart, Mode: mode, Watcher: uint64(i), Spec: &protocol.Spec{ID: id, Command: "echo on; sleep 600"}}))
		next(t, stream, protocol.KindStarted)
		if err := stream.WriteFrame(99, []byte("x")); err != nil {
			t.Fatal(err)
		}
		var f protocol.Failure
		if err := protocol.Decode(next(t, stream, protocol.KindFailure), &f); err != nil || f.Code != protocol.CodeBadRequest {
			t.Errorf("mode %q: %+v, %v", mode, f, err)
		}
		if e, err := a.find(id); err != nil || e.progress().state != protocol.Running {
			t.Errorf("mode %q: the command has gone: %v", mode, err)
		}
	}
}
