//go:build linux

package test

// This file is about clients that mean harm, or know no better: what they send ends their stream
// or their connection, and nobody else's.

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// checkRefused checks that the stream ends with a failure that is short and of this code, or of
// any if code is "".
func checkRefused(t *testing.T, stream *strangerStream, code protocol.Code) {
	t.Helper()
	payload, err := stream.await(t, protocol.KindFailure)
	if err != nil {
		t.Errorf("the stream ended with %v, want a failure first", err)
		return
	}
	if !strings.Contains(payload, `"code":"`+string(code)) || len(payload) > 1024 {
		t.Errorf("failure %.200q of %d bytes, want code %q and at most 1024", payload, len(payload), code)
	}
	if _, err := stream.await(t, protocol.KindResult); !errors.Is(err, io.EOF) {
		t.Errorf("after the failure: %v, want the end of the stream", err)
	}
}

// checkServes checks that the agent serves a good client, and the bad one's next stream.
func (e *embedded) checkServes(t *testing.T, conn *client.Conn, s *stranger) {
	t.Helper()
	if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
		t.Errorf("another client: text %q, want %q", o.text(), "on\n")
	}
	stream := s.start(t, client.NewID(), "echo on")
	if result, err := stream.await(t, protocol.KindResult); err != nil || !strings.Contains(result, `"exitCode":0`) {
		t.Errorf("the next stream of the same client: %q, %v, want a result", result, err)
	}
	stream.Close()
}

// A stream that begins wrong is refused, and is the only one.
func TestHostileOpen(t *testing.T) {
	e := embed(t)
	conn, s := e.dial(t), e.stranger(t)
	for _, c := range []struct {
		name    string
		kind    transport.Kind
		payload string
		code    protocol.Code
	}{
		{"no JSON", protocol.KindOpen, "{", protocol.CodeBadRequest},
		{"nothing", protocol.KindOpen, "", protocol.CodeBadRequest},
		{"null", protocol.KindOpen, "null", protocol.CodeBadRequest},
		{"no object", protocol.KindOpen, `["start"]`, protocol.CodeBadRequest},
		{"unknown field", protocol.KindOpen, `{"type":"start","bogus":1,"spec":{"id":"x","command":"true"}}`, protocol.CodeBadRequest},
		{"unknown field of the spec", protocol.KindOpen, `{"type":"start","spec":{"id":"x","command":"true","bogus":1}}`, protocol.CodeBadRequest},
		{"something behind", protocol.KindOpen, `{"type":"start","spec":{"id":"x","command":"true"}}{}`, protocol.CodeBadRequest},
		{"wrong type", protocol.KindOpen, `{"type":"start","spec":{"id":"x","command":1}}`, protocol.CodeBadRequest},
		{"deep nesting", protocol.KindOpen, strings.Repeat("[", 1<<20), protocol.CodeBadRequest},
		{"unknown purpose", protocol.KindOpen, `{"type":"bogus"}`, protocol.CodeBadRequest},
		{"long unknown purpose", protocol.KindOpen, `{"type":"` + strings.Repeat("x", 1<<20) + `"}`, protocol.CodeBadRequest},
		{"start without a spec", protocol.KindOpen, `{"type":"start"}`, protocol.CodeBadRequest},
		{"wrong kind", protocol.KindStdin, "input", protocol.CodeBadRequest},
		{"kind of the agent", protocol.KindResult, "{}", protocol.CodeBadRequest},
		{"largest kind", transport.MaxKind, "", protocol.CodeBadRequest},
		{"no command", protocol.KindOpen, `{"type":"start","spec":{"id":"x"}}`, protocol.CodeBadSpec},
		{"NUL byte", protocol.KindOpen, `{"type":"start","spec":{"id":"x","command":"echo \u0000"}}`, protocol.CodeBadSpec},
		{"path as ID", protocol.KindOpen, `{"type":"start","spec":{"id":"../x","command":"true"}}`, protocol.CodeBadSpec},
		{"long ID", protocol.KindOpen, `{"type":"start","spec":{"id":"` + strings.Repeat("x", 1<<20) + `","command":"true"}}`, protocol.CodeBadSpec},
		{"negative limit", protocol.KindOpen, `{"type":"start","spec":{"id":"x","command":"true","limits":{"maxBytes":-1}}}`, protocol.CodeBadSpec},
		{"enormous limit", protocol.KindOpen, `{"type":"start","spec":{"id":"x","command":"true","limits":{"maxBytes":1000000000000}}}`, protocol.CodeBadSpec},
		{"long end to keep", protocol.KindOpen, `{"type":"start","spec":{"id":"x","command":"true","limits":{"retain":"` + strings.Repeat("x", 1<<20) + `"}}}`, protocol.CodeBadSpec},
		{"negative timeout", protocol.KindOpen, `{"type":"start","spec":{"id":"x","command":"true","timeoutNanos":-1}}`, protocol.CodeBadSpec},
		{"long shell", protocol.KindOpen, `{"type":"start","spec":{"id":"x","command":"true","shell":"/` + strings.Repeat("x", 1<<20) + `"}}`, protocol.CodeStartFailed},
		{"long cwd", protocol.KindOpen, `{"type":"start","spec":{"id":"x","command":"true","cwd":"/` + strings.Repeat("x", 1<<20) + `"}}`, protocol.CodeStartFailed},
		{"unknown ID", protocol.KindOpen, `{"type":"attach","id":"nobody"}`, protocol.CodeUnknownID},
		{"long unknown ID", protocol.KindOpen, `{"type":"attach","id":"` + strings.Repeat("x", 1<<20) + `"}`, protocol.CodeUnknownID},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkRefused(t, s.open(t, c.kind, c.payload), c.code)
			e.checkServes(t, conn, s)
		})
	}
}

// A control stream that goes wrong ends, and takes no execution with it.
func TestHostileControl(t *testing.T) {
	e := embed(t)
	conn := e.dial(t)
	for _, c := range []struct {
		name    string
		kind    transport.Kind
		payload string
	}{
		{"no JSON", protocol.KindRequest, "{"},
		{"unknown field", protocol.KindRequest, `{"type":"ack","bogus":1}`},
		{"count that is no integer", protocol.KindRequest, `{"type":"ack","watcher":1,"count":1e300}`},
		{"wrong kind", protocol.KindStdin, "input"},
		{"a second open", protocol.KindOpen, `{"type":"control"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := e.stranger(t)
			send(t, s.control, c.kind, c.payload)
			checkRefused(t, &strangerStream{Stream: s.control}, protocol.CodeBadRequest)
			// Without acknowledgements it cannot follow, but it can still start.
			if _, err := s.start(t, client.NewID(), "true").await(t, protocol.KindStarted); err != nil {
				t.Errorf("the next stream of the same client: %v", err)
			}
			if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
				t.Errorf("another client: text %q, want %q", o.text(), "on\n")
			}
		})
	}
	t.Run("unknown requests", func(t *testing.T) {
		s := e.stranger(t)
		stream := &strangerStream{Stream: s.control}
		for _, request := range []string{
			`{"type":"bogus","seq":1}`,
			`{"type":"` + strings.Repeat("x", 1<<20) + `","seq":1}`,
			`{"type":"cancel","seq":1,"id":"nobody"}`,
			`{"type":"cancel","seq":1,"id":"` + strings.Repeat("x", 1<<20) + `"}`,
			`{"type":"cancel","seq":1}`,
		} {
			send(t, s.control, protocol.KindRequest, request)
			reply, err := stream.await(t, protocol.KindReply)
			if err != nil || !strings.Contains(reply, `"seq":1,"failure":`) || len(reply) > 1024 {
				t.Errorf("reply to %.100q: %.200q, %v, want a short failure", request, reply, err)
			}
		}
		e.checkServes(t, conn, s)
	})
}

// Acknowledgements of what was never sent change nothing.
func TestHostileAcks(t *testing.T) {
	e := embed(t)
	conn, s := e.dial(t), e.stranger(t)
	stream := s.start(t, "acks", "for i in $(seq 1 100); do echo $i; sleep 0.005; done")
	for _, count := range []int{-1, 0, math.MinInt, math.MaxInt, 1 << 31} {
		for _, watcher := range []uint64{0, stream.watcher, 99, math.MaxUint64} {
			s.acknowledge(t, watcher, count)
		}
	}
	result, err := stream.await(t, protocol.KindResult)
	if err != nil || !strings.Contains(result, `"totalLines":100,`) {
		t.Errorf("result %q, %v, want one of 100 lines", result, err)
	}
	e.checkServes(t, conn, s)
}

// Frames that do not belong on an execution's stream do not reach the command.
func TestHostileFramesOnAnExecution(t *testing.T) {
	e := embed(t)
	conn, s := e.dial(t), e.stranger(t)
	for _, c := range []struct {
		name    string
		kind    transport.Kind
		payload string
		refused bool
	}{
		{"input for a command without", protocol.KindStdin, string(protocol.AppendStdin(nil, 0, []byte("input"))), false},
		{"input without an offset", protocol.KindStdin, "input", true},
		{"end of input for a command without", protocol.KindStdinEnd, string(protocol.AppendStdin(nil, 0, nil)), false},
		{"a second open", protocol.KindOpen, `{"type":"control"}`, true},
		{"unknown kind", 99, "x", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := client.NewID()
			stream := s.start(t, id, "sleep 0.2; echo on")
			if _, err := stream.await(t, protocol.KindStarted); err != nil {
				t.Fatal(err)
			}
			send(t, stream.Stream, c.kind, c.payload)
			if c.refused {
				checkRefused(t, stream, protocol.CodeBadRequest)
			} else if result, err := stream.await(t, protocol.KindResult); err != nil {
				t.Errorf("%q, %v, want a result", result, err)
			}
			stream.Close()
			if o := follow(t, attach(t, conn, id), client.Spec{}.Limits, nil); o.text() != "on\n" {
				t.Errorf("the command printed %q, want %q", o.text(), "on\n")
			}
			e.checkServes(t, conn, s)
		})
	}
	t.Run("a watcher's number twice", func(t *testing.T) {
		first := s.start(t, client.NewID(), "sleep 0.3; echo on")
		if _, err := first.await(t, protocol.KindStarted); err != nil {
			t.Fatal(err)
		}
		s.watcher--
		checkRefused(t, s.start(t, client.NewID(), "true"), protocol.CodeBadRequest)
		if _, err := first.await(t, protocol.KindResult); err != nil {
			t.Errorf("the first watcher: %v, want a result", err)
		}
		e.checkServes(t, conn, s)
	})
}

// A frame over the agent's cap is not sent, and its size is named.
func TestTooLargeToSend(t *testing.T) {
	e := embed(t)
	conn := e.dial(t)
	_, err := conn.Start(t.Context(), client.Spec{Command: "true #" + strings.Repeat("x", protocol.MaxClientPayload)})
	var tooLarge *transport.FrameTooLargeError
	if !errors.As(err, &tooLarge) || tooLarge.Max != protocol.MaxClientPayload || tooLarge.Size <= tooLarge.Max {
		t.Errorf("starting a command of more than %d bytes: %v, want a FrameTooLargeError", protocol.MaxClientPayload, err)
	}
	if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
		t.Errorf("after it: text %q, want %q", o.text(), "on\n")
	}
}

// Streams that say nothing, that never read and that leave in the middle hold nobody up and
// leave nothing behind.
func TestSilentStreams(t *testing.T) {
	e := embed(t)
	conn, s := e.dial(t), e.stranger(t)
	for range 200 {
		stream, err := s.Session.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stream.Close() })
	}
	for i := range 20 { // they never read, and never acknowledge
		id := client.NewID()
		stream := s.start(t, id, "seq 1 200000")
		if _, err := stream.await(t, protocol.KindStarted); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			stream.Close()
		}
		if o := follow(t, attach(t, conn, id), client.Spec{}.Limits, nil); o.result.Truncation.TotalLines != 200_000 {
			t.Errorf("command %d has %d lines, want 200000", i, o.result.Truncation.TotalLines)
		}
	}
	e.checkServes(t, conn, s)
	s.Close()
	if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
		t.Errorf("after it left: text %q, want %q", o.text(), "on\n")
	}
}
