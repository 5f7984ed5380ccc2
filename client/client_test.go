package client

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	serveEchoIfAsked()
	goleak.VerifyTestMain(m)
}

// fakeAgent is the agent's side of one connection, played by the test.
type fakeAgent struct {
	t       *testing.T
	session *transport.Session
	control *transport.Stream
	played  sync.WaitGroup
}

// play runs f beside the test, which waits for it.
func (f *fakeAgent) play(part func()) { f.played.Go(part) }

// pair connects a client to a fake agent.
func pair(t *testing.T) (*Conn, *fakeAgent) {
	t.Helper()
	here, there := transport.Pipe()
	f := &fakeAgent{t: t}
	ready := make(chan error, 1)
	go func() {
		var err error
		if f.session, err = transport.Server(context.Background(), there, transport.Options{Instance: "fake"}); err == nil {
			f.control, err = f.session.Accept(context.Background())
		}
		ready <- err
	}()
	conn, err := NewConn(t.Context(), here, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.played.Wait()
		conn.Close()
		f.session.Close()
	})
	f.read(f.control, protocol.KindOpen, new(protocol.Open))
	return conn, f
}

func (f *fakeAgent) read(s *transport.Stream, want transport.Kind, v any) {
	f.t.Helper()
	kind, payload, err := s.ReadFrame()
	if err != nil || kind != want {
		f.t.Fatalf("reading a frame of kind %d: kind %d, %v", want, kind, err)
	}
	if err := json.Unmarshal(payload, v); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeAgent) write(s *transport.Stream, kind transport.Kind, payload string) {
	f.t.Helper()
	if err := s.WriteFrame(kind, []byte(payload)); err != nil {
		f.t.Fatal(err)
	}
}

// accept takes the next execution's stream.
func (f *fakeAgent) accept() (*transport.Stream, protocol.Open) {
	f.t.Helper()
	s, err := f.session.Accept(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { s.Close() })
	var o protocol.Open
	f.read(s, protocol.KindOpen, &o)
	return s, o
}

const (
	started  = `{"id":"x","pid":1,"shell":"/bin/sh","stdin":"none"}`
	base     = `[["r",{"state":"running","text":"one\n","live":"","truncation":{"totalBytes":4}}]]`
	followUp = `[["a",["text"],"two\n"],["s",["truncation","totalBytes"],8]]`
	result   = `{"id":"x","reason":"exited","exitCode":3,"signal":null,"leftovers":[]}`
)

// start begins "x" and returns it with the agent's end of its stream.
func start(t *testing.T, conn *Conn, f *fakeAgent) (*Command, *transport.Stream) {
	t.Helper()
	streams := make(chan *transport.Stream, 1)
	f.play(func() {
		s, _ := f.accept()
		f.write(s, protocol.KindStarted, started)
		streams <- s
	})
	cmd, err := conn.Start(context.Background(), Spec{ID: "x", Command: "true"})
	if err != nil {
		t.Fatal(err)
	}
	return cmd, <-streams
}

func TestFollow(t *testing.T) {
	conn, f := pair(t)
	cmd, s := start(t, conn, f)
	f.play(func() {
		f.write(s, protocol.KindBatch, base)
		f.write(s, protocol.KindBatch, followUp)
		f.write(s, protocol.KindResult, result)
	})
	var wire []string
	for b, err := range cmd.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		wire = append(wire, string(b.Wire))
		var ack protocol.Request
		if len(wire) > 1 {
			f.read(f.control, protocol.KindRequest, &ack)
			if ack.Type != protocol.RequestAck || ack.Count != 1 {
				t.Errorf("got %+v, want an acknowledgement of the first batch", ack)
			}
		}
	}
	if got := strings.Join(wire, ""); got != base+followUp {
		t.Errorf("batches %s", got)
	}
	if v := cmd.View(); v.Text != "one\ntwo\n" || v.Truncation.TotalBytes != 8 {
		t.Errorf("view %+v", v)
	}
	for range 2 { // Wait may be called again
		if r, err := cmd.Wait(); err != nil || r.ExitCode != 3 {
			t.Errorf("result %+v, %v", r, err)
		}
	}
}

func TestBatchesGoOn(t *testing.T) {
	conn, f := pair(t)
	cmd, s := start(t, conn, f)
	f.play(func() {
		f.write(s, protocol.KindBatch, base)
		f.write(s, protocol.KindBatch, followUp)
		f.write(s, protocol.KindResult, result)
	})
	for range cmd.Batches() {
		break
	}
	if r, err := cmd.Wait(); err != nil || r.ExitCode != 3 || cmd.View().Text != "one\ntwo\n" {
		t.Errorf("after leaving the loop: %+v, %v, view %+v", r, err, cmd.View())
	}
}

func TestLost(t *testing.T) {
	conn, f := pair(t)
	cmd, s := start(t, conn, f)
	f.write(s, protocol.KindBatch, base)
	f.play(func() {
		var ack protocol.Request
		f.read(f.control, protocol.KindRequest, &ack)
		f.session.Close()
	})
	r, err := cmd.Wait()
	lost := (*LostError)(nil)
	if r != nil || !errors.As(err, &lost) || lost.ID != "x" || lost.State != protocol.Running {
		t.Errorf("result %+v, error %v, want a *LostError about a running x", r, err)
	}
	if _, err := conn.Start(t.Context(), Spec{Command: "true"}); err == nil {
		t.Error("a lost connection starts a command")
	}
	if err := conn.Cancel(t.Context(), "x"); err == nil {
		t.Error("a lost connection cancels")
	}
}

// TestHostileAgent: whatever the agent sends, following ends in an error and never in a panic
// or an invented result.
func TestHostileAgent(t *testing.T) {
	type frame struct {
		kind    transport.Kind
		payload string
	}
	for name, frames := range map[string][]frame{
		"not JSON":              {{protocol.KindBatch, `[["r"`}},
		"no base":               {{protocol.KindBatch, followUp}},
		"unknown verb":          {{protocol.KindBatch, base}, {protocol.KindBatch, `[["x",["text"]]]`}},
		"truncate past the end": {{protocol.KindBatch, base}, {protocol.KindBatch, `[["t",["text"],99]]`}},
		"prototype":             {{protocol.KindBatch, base}, {protocol.KindBatch, `[["s",["__proto__"],1]]`}},
		"a document of null":    {{protocol.KindBatch, `[["r",null]]`}},
		"a text of numbers":     {{protocol.KindBatch, `[["r",{"text":7,"truncation":{}}]]`}},
		"a spill error of text": {{protocol.KindBatch, `[["r",{"truncation":{},"spillError":"x"}]]`}},
		"unknown kind":          {{99, `{}`}},
		"broken result":         {{protocol.KindBatch, base}, {protocol.KindResult, `{"exitCode":"x"}`}},
		"a failure":             {{protocol.KindFailure, `{"code":"bad-request","message":"no"}`}},
		"a broken failure":      {{protocol.KindFailure, `[`}},
	} {
		t.Run(name, func(t *testing.T) {
			conn, f := pair(t)
			cmd, s := start(t, conn, f)
			for _, fr := range frames {
				f.write(s, fr.kind, fr.payload)
			}
			if r, err := cmd.Wait(); err == nil || r != nil {
				t.Errorf("result %+v, error %v", r, err)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	conn, f := pair(t)
	f.play(func() {
		s, _ := f.accept()
		f.write(s, protocol.KindFailure, `{"code":"unknown-id","message":"no execution \"y\""}`)
		var r protocol.Request
		f.read(f.control, protocol.KindRequest, &r)
		f.write(f.control, protocol.KindReply, string(protocol.Encode(protocol.Reply{Seq: r.Seq, Failure: &Failure{Code: protocol.CodeUnknownID, Message: "none"}})))
	})
	_, err := conn.Attach(t.Context(), "y")
	refusal := (*Failure)(nil)
	if !errors.As(err, &refusal) || refusal.Code != protocol.CodeUnknownID {
		t.Errorf("attach: %v", err)
	}
	if err := conn.Cancel(t.Context(), "y"); !errors.As(err, &refusal) {
		t.Errorf("cancel: %v", err)
	}
	if _, err := conn.Start(t.Context(), Spec{Command: "a\x00b"}); err == nil {
		t.Error("a bad spec is sent")
	}
}

// TestContext: a context that ends cancels the execution, before and after the start.
func TestContext(t *testing.T) {
	cancelSeen := func(f *fakeAgent) {
		var r protocol.Request
		f.read(f.control, protocol.KindRequest, &r)
		if r.Type != protocol.RequestCancel || r.ID != "x" {
			f.t.Errorf("got %+v, want the cancel of x", r)
		}
		f.write(f.control, protocol.KindReply, string(protocol.Encode(protocol.Reply{Seq: r.Seq})))
	}
	t.Run("after the start", func(t *testing.T) {
		conn, f := pair(t)
		ctx, cancel := context.WithCancel(t.Context())
		f.play(func() {
			s, _ := f.accept()
			f.write(s, protocol.KindStarted, started)
			cancelSeen(f)
			f.write(s, protocol.KindResult, `{"id":"x","reason":"canceled","exitCode":143,"signal":"TERM"}`)
		})
		cmd, err := conn.Start(ctx, Spec{ID: "x", Command: "true"})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if r, err := cmd.Wait(); err != nil || r.Reason != protocol.ReasonCanceled {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("during the start", func(t *testing.T) {
		conn, f := pair(t)
		ctx, cancel := context.WithCancel(t.Context())
		streams := make(chan *transport.Stream, 1)
		f.play(func() {
			s, _ := f.accept()
			cancel()
			streams <- s
		})
		if _, err := conn.Start(ctx, Spec{ID: "x", Command: "true"}); !errors.Is(err, context.Canceled) {
			t.Errorf("start: %v", err)
		}
		f.write(<-streams, protocol.KindStarted, started) // too late: it has to be canceled
		cancelSeen(f)
	})
}

func TestStdin(t *testing.T) {
	conn, f := pair(t)
	cmd, _ := start(t, conn, f)
	if _, err := cmd.Stdin().Write([]byte("x")); !errors.Is(err, ErrNoStdin) {
		t.Errorf("input to a command without: %v", err)
	}
	if err := cmd.Stdin().Close(); !errors.Is(err, ErrNoStdin) {
		t.Errorf("its end: %v", err)
	}
}
