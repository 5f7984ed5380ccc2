package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/google/go-cmp/cmp"
)

// fakeHost is where fake agents are reached, one connection each.
type fakeHost struct {
	t        *testing.T
	agents   chan *fakeAgent // those that were dialed
	instance string          // of the next
	down     error           // why the next dial fails
	statuses chan Status
}

// dialFake returns a client that dials again, and the agent of its first connection.
func dialFake(t *testing.T, reconnect time.Duration) (*Conn, *fakeHost, *fakeAgent) {
	t.Helper()
	h := &fakeHost{t: t, agents: make(chan *fakeAgent, 100), instance: "one", statuses: make(chan Status, 100)}
	conn, err := DialFunc(t.Context(), h.connect, Options{Reconnect: reconnect, OnStatus: func(s Status) { h.statuses <- s }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn, h, h.next()
}

// connect makes the byte stream to another agent.
func (h *fakeHost) connect(context.Context) (io.ReadWriteCloser, error) {
	if h.down != nil {
		return nil, h.down
	}
	here, there := transport.Pipe()
	f := &fakeAgent{t: h.t}
	instance := h.instance
	f.played.Go(func() {
		var err error
		f.session, err = transport.Server(context.Background(), there, transport.Options{Instance: instance})
		if err == nil {
			f.control, err = f.session.Accept(context.Background())
		}
		if err != nil {
			h.t.Errorf("the agent's side: %v", err)
		}
	})
	h.agents <- f
	return here, nil
}

// next returns the agent that was dialed next, ready.
func (h *fakeHost) next() *fakeAgent {
	h.t.Helper()
	f := <-h.agents
	f.played.Wait()
	h.t.Cleanup(func() {
		f.session.Close()
		f.played.Wait()
	})
	f.read(f.control, protocol.KindOpen, new(protocol.Open))
	return f
}

// want checks the next state a caller is told.
func (h *fakeHost) want(state ConnState) Status {
	h.t.Helper()
	s := <-h.statuses
	if s.State != state || (s.Cause == nil) != (state == Connected) {
		h.t.Errorf("told %+v, want %s with its cause", s, state)
	}
	return s
}

// resume answers the next attach and returns its stream.
func (f *fakeAgent) resume(started string) (*transport.Stream, protocol.Open) {
	f.t.Helper()
	s, o := f.accept()
	if o.Type != protocol.OpenAttach || o.ID != "x" {
		f.t.Errorf("the client opens %+v, want an attach to x", o)
	}
	f.write(s, protocol.KindStarted, started)
	return s, o
}

const input = `{"id":"x","pid":1,"shell":"/bin/sh","stdin":"pipe"}`

// TestResume: one iterator goes on over three connections, and ends with the result.
func TestResume(t *testing.T) {
	conn, h, f := dialFake(t, time.Minute)
	cmd, s := start(t, conn, f)
	f.write(s, protocol.KindBatch, base)
	var texts []string
	for _, err := range cmd.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, cmd.View().Text)
		if len(texts) < 3 {
			f.session.Close()
			h.want(Reconnecting)
			f = h.next()
			h.want(Connected)
			s, _ = f.resume(started)
			f.write(s, protocol.KindBatch, strings.ReplaceAll(base, "one", fmt.Sprint("again ", len(texts))))
		} else {
			f.write(s, protocol.KindResult, result)
		}
	}
	if diff := cmp.Diff([]string{"one\n", "again 1\n", "again 2\n"}, texts); diff != "" {
		t.Errorf("the views, want (-) got (+):\n%s", diff)
	}
	if r, err := cmd.Wait(); err != nil || r.ExitCode != 3 {
		t.Errorf("result %+v, %v", r, err)
	}
}

// TestAnotherInstance: an agent that was started anew is not mistaken for the one before. It is
// asked for a result that was written down, and else the outcome is unknown.
func TestAnotherInstance(t *testing.T) {
	const noText = `[["r",{"state":"settled","text":"","live":"","truncation":{"totalBytes":4}}]]`
	type frame struct {
		kind    transport.Kind
		payload string
	}
	for name, c := range map[string]struct {
		answer []frame
		exits  bool
		path   string
	}{
		"it knows nothing":      {[]frame{{protocol.KindFailure, `{"code":"unknown-id","message":"no"}`}}, false, ""},
		"it found what is left": {[]frame{{protocol.KindStarted, started}, {protocol.KindBatch, noText}, {protocol.KindResult, `{"id":"x","reason":"agent-lost","exitCode":125,"spillPath":"/file"}`}}, false, "/file"},
		"it found the result":   {[]frame{{protocol.KindStarted, started}, {protocol.KindBatch, noText}, {protocol.KindResult, result}}, true, ""},
		"it sends nonsense":     {[]frame{{protocol.KindStarted, started}, {protocol.KindOutput, "x"}}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			conn, h, f := dialFake(t, time.Minute)
			cmd, s := start(t, conn, f)
			f.write(s, protocol.KindBatch, base)
			for range cmd.Batches() {
				break
			}
			h.instance = "two"
			f.session.Close()
			f = h.next()
			f.play(func() {
				s, o := f.accept()
				if o.Type != protocol.OpenAttach || o.ID != "x" {
					t.Errorf("the client opens %+v, want an attach to x", o)
				}
				for _, fr := range c.answer {
					f.write(s, fr.kind, fr.payload)
				}
			})
			r, err := cmd.Wait()
			lost := (*LostError)(nil)
			switch {
			case c.exits && (err != nil || r.ExitCode != 3 || cmd.View().Text != "one\n"):
				t.Errorf("%+v, %v, text %q: want the result and the last view", r, err, cmd.View().Text)
			case c.exits:
			case r != nil || !errors.As(err, &lost) || !errors.Is(err, ErrAgentRestarted) || lost.State != protocol.Running:
				t.Errorf("%+v, %v: want a LostError by ErrAgentRestarted of a running x", r, err)
			case c.path != "" && (lost.Found == nil || lost.Found.SpillPath != c.path):
				t.Errorf("found %+v, want the file %s", lost.Found, c.path)
			}
			f.played.Wait()
			start(t, conn, f) // the connection itself goes on
			if got := conn.Peer().Instance; got != "two" {
				t.Errorf("the peer is %q", got)
			}
		})
	}
}

// TestGivenUp: when the limit has passed the outcome is an error that says so.
func TestGivenUp(t *testing.T) {
	conn, h, f := dialFake(t, 300*time.Millisecond)
	cmd, _ := start(t, conn, f)
	h.down = errors.New("no route")
	f.session.Close()
	h.want(Reconnecting)
	_, err := cmd.Wait()
	lost := (*LostError)(nil)
	if !errors.As(err, &lost) || lost.ID != "x" {
		t.Errorf("%v, want a LostError about x", err)
	}
	if s := h.want(Lost); !errors.Is(s.Cause, h.down) || !strings.Contains(s.Cause.Error(), "300ms") {
		t.Errorf("given up because of %v, want the last cause and the limit", s.Cause)
	}
	if _, err := conn.Start(t.Context(), Spec{Command: "true"}); !errors.Is(err, h.down) {
		t.Errorf("a start later: %v", err)
	}
	if _, err := conn.List(t.Context()); !errors.Is(err, h.down) {
		t.Errorf("a list later: %v", err)
	}
}

// TestContextOutOfReach: a context that ends while the agent is out of reach ends the following
// at once, and the cancel is sent when the agent is there again.
func TestContextOutOfReach(t *testing.T) {
	conn, h, f := dialFake(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	f.play(func() {
		s, _ := f.accept()
		f.write(s, protocol.KindStarted, started)
		f.write(s, protocol.KindBatch, base)
	})
	cmd, err := conn.Start(ctx, Spec{ID: "x", Command: "true"})
	if err != nil {
		t.Fatal(err)
	}
	for range cmd.Batches() {
		break
	}
	f.played.Wait()
	blocked := make(chan struct{})
	next := conn.next
	conn.next = func(ctx context.Context, cause error) (*link, error) { <-blocked; return next(ctx, cause) }
	f.session.Close()
	h.want(Reconnecting)
	cancel()
	lost := (*LostError)(nil)
	if r, err := cmd.Wait(); r != nil || !errors.As(err, &lost) || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v: want a LostError by the context", r, err)
	}
	close(blocked)
	f = h.next()
	var r protocol.Request
	f.read(f.control, protocol.KindRequest, &r)
	if r.Type != protocol.RequestCancel || r.ID != "x" || !r.Fence {
		t.Errorf("got %+v, want the cancel of x, which fences it", r)
	}
}

// TestStartRepeated: a start whose answer was lost is sent again to the same agent, and to no
// other one.
func TestStartRepeated(t *testing.T) {
	for instance, again := range map[string]bool{"one": true, "two": false} {
		conn, h, f := dialFake(t, time.Minute)
		f.play(func() {
			f.accept()
			h.instance = instance
			f.session.Close()
			f := h.next()
			if again {
				s, o := f.accept()
				if o.Type != protocol.OpenStart || o.Spec.ID != "x" {
					t.Errorf("the client opens %+v, want the start of x again", o)
				}
				f.write(s, protocol.KindStarted, started)
				f.write(s, protocol.KindResult, result)
			}
		})
		cmd, err := conn.Start(t.Context(), Spec{ID: "x", Command: "true"})
		if !again {
			if lost := (*LostError)(nil); !errors.As(err, &lost) || !errors.Is(err, ErrAgentRestarted) {
				t.Errorf("another instance: %v, want a LostError by ErrAgentRestarted", err)
			}
		} else if err != nil {
			t.Errorf("the same instance: %v", err)
		} else if r, err := cmd.Wait(); err != nil || r.ExitCode != 3 {
			t.Errorf("%+v, %v", r, err)
		}
		f.played.Wait()
	}
}

// TestStartLost: without a second connection, a start whose answer was lost has an unknown
// outcome.
func TestStartLost(t *testing.T) {
	conn, f := pair(t)
	f.play(func() {
		f.accept()
		f.session.Close()
	})
	_, err := conn.Start(t.Context(), Spec{ID: "x", Command: "true"})
	if lost := (*LostError)(nil); !errors.As(err, &lost) || lost.State != "" {
		t.Errorf("%v, want a LostError about an x not seen", err)
	}
}

// TestAskAgain: what may be asked twice is, and a signal is not.
func TestAskAgain(t *testing.T) {
	conn, h, f := dialFake(t, time.Minute)
	f.play(func() {
		var r protocol.Request
		f.read(f.control, protocol.KindRequest, &r)
		f.session.Close()
		f := h.next()
		f.read(f.control, protocol.KindRequest, &r)
		f.write(f.control, protocol.KindReply, string(protocol.Encode(protocol.Reply{Seq: r.Seq, Omitted: 7})))
		f.read(f.control, protocol.KindRequest, &r)
		f.session.Close()
		h.next()
	})
	if l, err := conn.List(t.Context()); err != nil || l.Omitted != 7 {
		t.Errorf("%+v, %v", l, err)
	}
	if err := conn.Signal(t.Context(), "x", "INT"); !errors.Is(err, transport.ErrSessionClosed) {
		t.Errorf("signal: %v, want that the session was closed", err)
	}
}

// TestNotAgain: an agent that breaks the protocol is not dialed again.
func TestNotAgain(t *testing.T) {
	conn, h, f := dialFake(t, time.Minute)
	f.write(f.control, protocol.KindReply, `[`)
	pe := (*ProtocolError)(nil)
	if s := h.want(Lost); !errors.As(s.Cause, &pe) {
		t.Errorf("lost because of %v, want a ProtocolError", s.Cause)
	}
	if _, err := conn.List(t.Context()); !errors.As(err, &pe) {
		t.Errorf("a list later: %v", err)
	}
}

// TestTerminalResumes: a person's terminal goes on behind a gap of what was missed.
func TestTerminalResumes(t *testing.T) {
	conn, h, f := dialFake(t, time.Minute)
	streams := make(chan *transport.Stream, 1)
	f.play(func() {
		s, _ := f.accept()
		f.write(s, protocol.KindStarted, started)
		f.write(s, protocol.KindOutput, "12345")
		f.write(s, protocol.KindGap, `{"bytes":10}`)
		streams <- s
	})
	term, err := conn.StartTerminal(t.Context(), Spec{ID: "x", Command: "true"})
	if err != nil {
		t.Fatal(err)
	}
	<-streams
	var got []string
	for c, err := range term.Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s+%d", c.Data, c.Missed))
		switch len(got) {
		case 2: // everything was received
			f.session.Close()
			f = h.next()
			f.resume(`{"id":"x","pid":1,"shell":"/bin/sh","stdin":"none","position":17}`)
		case 3: // nothing happened meanwhile
			f.session.Close()
			f = h.next()
			s, o := f.resume(`{"id":"x","pid":1,"shell":"/bin/sh","stdin":"none","position":17}`)
			if o.Mode != protocol.ModeRaw {
				t.Errorf("attached in the mode %q", o.Mode)
			}
			f.write(s, protocol.KindOutput, "end")
			f.write(s, protocol.KindResult, result)
		}
	}
	if diff := cmp.Diff([]string{"12345+0", "+10", "+2", "end+0"}, got); diff != "" {
		t.Errorf("chunks, want (-) got (+):\n%s", diff)
	}
	if r, err := term.Wait(); err != nil || r.ExitCode != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestStreamIsNotResumed: what is lossless cannot go on behind a gap.
func TestStreamIsNotResumed(t *testing.T) {
	conn, h, f := dialFake(t, time.Minute)
	f.play(func() {
		s, o := f.accept()
		if o.Input != "" {
			t.Errorf("a stream's input has the name %q", o.Input)
		}
		f.write(s, protocol.KindStarted, input)
		f.write(s, protocol.KindOutput, "some")
	})
	s, err := conn.StartStream(t.Context(), Spec{ID: "x", Command: "true"})
	if err != nil {
		t.Fatal(err)
	}
	f.played.Wait()
	f.session.Close()
	lost := (*LostError)(nil)
	if _, err := io.ReadAll(s); !errors.As(err, &lost) {
		t.Errorf("read: %v, want a LostError", err)
	}
	if r, err := s.Wait(); r != nil || !errors.As(err, &lost) {
		t.Errorf("%+v, %v: want a LostError", r, err)
	}
	h.next()
}

// readInput reads what a client writes, from an offset on, up to the end or so many bytes.
func readInput(t *testing.T, s *transport.Stream, from int64, most int) (text string, ended bool) {
	t.Helper()
	for len(text) < most {
		kind, payload, err := s.ReadFrame()
		if err != nil {
			t.Fatalf("reading input: %v", err)
		}
		offset, p, err := protocol.CutStdin(payload)
		if err != nil || offset != from+int64(len(text)) {
			t.Fatalf("input at %d, %v, want it at %d", offset, err, from+int64(len(text)))
		}
		if kind == protocol.KindStdinEnd {
			return text, true
		}
		text += string(p)
	}
	return text, false
}

// TestInputRepeated: what the agent has not taken is sent again with its offset, the end too,
// and writes wait while too much is under way.
func TestInputRepeated(t *testing.T) {
	conn, h, f := dialFake(t, time.Minute)
	streams := make(chan *transport.Stream, 1)
	var name string
	var watcher uint64
	f.play(func() {
		s, o := f.accept()
		name, watcher = o.Input, o.Watcher
		f.write(s, protocol.KindStarted, input)
		streams <- s
	})
	cmd, err := conn.Start(t.Context(), Spec{ID: "x", Command: "cat", Stdin: StdinPipe})
	if err != nil {
		t.Fatal(err)
	}
	s := <-streams
	written := strings.Repeat("0123456789abcdef", protocol.StdinWindow/16)
	if _, err := cmd.Stdin().Write([]byte(written)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := cmd.Stdin().Write([]byte("more"))
		done <- errors.Join(err, cmd.Stdin().Close())
	}()
	if got, _ := readInput(t, s, 0, len(written)); got != written {
		t.Fatalf("%d bytes arrive, want the %d written", len(got), len(written))
	}
	select {
	case err := <-done:
		t.Fatalf("more than the window was written: %v", err)
	default:
	}
	const taken = protocol.StdinWindow / 2
	f.write(f.control, protocol.KindNotice, string(protocol.Encode(protocol.Notice{Watcher: watcher, Taken: taken})))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, ended := readInput(t, s, int64(len(written)), 100); got != "more" || !ended {
		t.Fatalf("%q, %v, want more and the end", got, ended)
	}
	f.session.Close()
	f = h.next()
	s, o := f.resume(input)
	if o.Input != name || name == "" {
		t.Errorf("the writer is %q on one connection and %q on the next", name, o.Input)
	}
	if got, ended := readInput(t, s, taken, len(written)); got != written[taken:]+"more" || !ended {
		t.Errorf("%d bytes are repeated, ended %v, want %d and the end", len(got), ended, len(written)-taken+4)
	}
	f.write(s, protocol.KindResult, result)
	if r, err := cmd.Wait(); err != nil || r.ExitCode != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestCloseOutOfReach: a connection can be closed, and an execution, while the agent is dialed.
func TestCloseOutOfReach(t *testing.T) {
	conn, h, f := dialFake(t, time.Minute)
	cmd, _ := start(t, conn, f)
	other, _ := start(t, conn, f)
	h.down = errors.New("no route")
	f.session.Close()
	h.want(Reconnecting)
	waited := make(chan error, 1)
	go func() { _, err := cmd.Wait(); waited <- err }()
	cmd.Close()
	lost := (*LostError)(nil)
	if err := <-waited; !errors.As(err, &lost) {
		t.Errorf("a closed execution: %v, want a LostError", err)
	}
	conn.Close()
	if _, err := other.Wait(); !errors.As(err, &lost) {
		t.Errorf("after Close: %v, want a LostError", err)
	}
	if len(h.statuses) != 0 {
		t.Errorf("a caller that closes is told %+v", <-h.statuses)
	}
}

func TestJitter(t *testing.T) {
	for range 1000 {
		if d := jitter(time.Second); d < time.Second/2 || d > time.Second {
			t.Fatalf("jitter(1s) = %v", d)
		}
	}
}
