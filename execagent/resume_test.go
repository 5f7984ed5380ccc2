//go:build linux

package execagent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
	"pgregory.net/rapid"
)

// again makes another session to the agent of served.
func again(t *testing.T, a *Agent) *transport.Session {
	t.Helper()
	here, there := transport.Pipe()
	done := make(chan error, 1)
	go func() { done <- a.ServeConn(context.Background(), there) }()
	s, err := transport.Client(t.Context(), here, transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	return s
}

// ask sends one request on a control stream of its own and returns the reply.
func ask(t *testing.T, s *transport.Session, r protocol.Request) *protocol.Reply {
	t.Helper()
	control := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenControl}))
	if err := control.WriteFrame(protocol.KindRequest, protocol.Encode(r)); err != nil {
		t.Fatal(err)
	}
	reply := new(protocol.Reply)
	if err := protocol.Decode(next(t, control, protocol.KindReply), reply); err != nil {
		t.Fatal(err)
	}
	return reply
}

// TestFence: a cancel that overtakes its start fences it; one that may not is refused.
func TestFence(t *testing.T) {
	a, s := served(t)
	if r := ask(t, s, protocol.Request{Type: protocol.RequestCancel, Seq: 1, ID: "late", Fence: true}); r.Failure != nil {
		t.Fatalf("the fence: %v", r.Failure)
	}
	start := func(id string, watcher uint64) *transport.Stream {
		return open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenStart, Watcher: watcher, Spec: &protocol.Spec{ID: id, Command: "sleep 600"}}))
	}
	for i := range 2 { // a repetition too
		var f protocol.Failure
		if err := protocol.Decode(next(t, start("late", uint64(i)), protocol.KindFailure), &f); err != nil || f.Code != protocol.CodeCanceled {
			t.Errorf("the start: %+v, %v, want it canceled", f, err)
		}
	}
	next(t, start("other", 9), protocol.KindStarted)
	two := again(t, a)
	if r := ask(t, two, protocol.Request{Type: protocol.RequestCancel, Seq: 1, ID: "../x", Fence: true}); r.Failure == nil || r.Failure.Code != protocol.CodeBadRequest {
		t.Errorf("a fence of no ID: %+v", r.Failure)
	}
	three := again(t, a)
	if r := ask(t, three, protocol.Request{Type: protocol.RequestCancel, Seq: 1, ID: "other", Fence: true}); r.Failure != nil {
		t.Errorf("a fence behind its start: %+v", r.Failure)
	}
	e, err := a.find("other")
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := outcome(t, e); r.Reason != protocol.ReasonCanceled {
		t.Errorf("what had started ended with %s", r.Reason)
	}
}

func TestFencesAreBounded(t *testing.T) {
	var f fences
	for i := range maxFences + 1 {
		f.add(fmt.Sprint(i), time.Hour)
		f.add(fmt.Sprint(i), time.Hour)
	}
	if len(f) != maxFences || f.has("0", time.Hour) || !f.has("1", time.Hour) || f.has("2", 0) || len(f) != 0 {
		t.Errorf("%d fences, the first %+v", len(f), f[:min(1, len(f))])
	}
}

// TestInputRepeats: whatever a client repeats, from wherever, the command is given each byte
// once. Between the repetitions another writer's input may come.
func TestInputRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		in := newStdin(w, false)
		want := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "input")
		got := make(chan []byte)
		go func() {
			var b bytes.Buffer
			_, _ = b.ReadFrom(r)
			got <- b.Bytes()
		}()
		for at := 0; at < len(want); {
			from := rapid.IntRange(0, at).Draw(t, "from")
			to := rapid.IntRange(from, len(want)).Draw(t, "to")
			if err := in.write(context.Background(), in.writer("w"), int64(from), want[from:to]); err != nil {
				t.Fatal(err)
			}
			at = max(at, to)
			if gap := in.write(context.Background(), in.writer("w"), int64(at)+1, []byte("x")); gap == nil {
				t.Fatalf("input at %d behind %d bytes is taken", at+1, at)
			}
		}
		if in.closeAt(context.Background(), in.writer("w"), int64(len(want))+1) == nil {
			t.Fatal("an end overtakes input that is still to come")
		}
		if err := in.closeAt(context.Background(), in.writer("w"), int64(len(want))); err != nil {
			t.Fatal(err)
		}
		if g := <-got; !bytes.Equal(g, want) {
			t.Fatalf("the command was given %q, want %q", g, want)
		}
	})
}

func TestWritersAreBounded(t *testing.T) {
	s := newStdin(nil, false)
	first := s.writer("0")
	for i := range maxWriters {
		if w := s.writer(fmt.Sprint(i)); w != s.writer(fmt.Sprint(i)) {
			t.Fatalf("writer %d is two", i)
		}
	}
	if first != s.writer("0") {
		t.Error("the first was forgotten early")
	}
	if nobody := s.writer(""); nobody == s.writer("") {
		t.Error("those without a name are one")
	}
	s.writer("another")
	if len(s.writers) != maxWriters || first == s.writer("0") {
		t.Errorf("%d writers, want at most %d, the first forgotten", len(s.writers), maxWriters)
	}
}

// TestInputOverConnections: a writer goes on over a second connection while the first still has
// input under way that the command does not read.
func TestInputOverConnections(t *testing.T) {
	a, s := served(t)
	release := filepath.Join(t.TempDir(), "release")
	size := 3 * protocol.StdinWindow / 2
	input := bytes.Repeat([]byte("0123456789abcde\n"), size/16)
	write := func(stream *transport.Stream, from int) {
		for at := from; at < size; at += protocol.MaxStdinFrame {
			if err := stream.WriteFrame(protocol.KindStdin, protocol.AppendStdin(nil, int64(at), input[at:at+protocol.MaxStdinFrame])); err != nil {
				t.Fatal(err)
			}
		}
	}
	first := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenStart, Watcher: 1, Input: "w", Spec: &protocol.Spec{
		ID: "x", Stdin: protocol.StdinPipe, Command: "until [ -e " + release + " ]; do sleep 0.01; done; cat | cksum",
	}}))
	next(t, first, protocol.KindStarted)
	write(first, 0)
	two := again(t, a)
	control := open(t, two, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenControl}))
	second := open(t, two, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenAttach, Watcher: 1, Input: "w", ID: "x"}))
	next(t, second, protocol.KindStarted)
	write(second, 0)
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for taken := int64(0); taken < int64(size-protocol.StdinWindow/4); {
		var n protocol.Notice
		if err := protocol.Decode(next(t, control, protocol.KindNotice), &n); err != nil || n.Failure != nil || n.Taken <= taken {
			t.Fatalf("notice %+v, %v behind %d", n, err, taken)
		}
		taken = n.Taken
	}
	if err := second.WriteFrame(protocol.KindStdinEnd, protocol.AppendStdin(nil, int64(size), nil)); err != nil {
		t.Fatal(err)
	}
	e, err := a.find("x")
	if err != nil {
		t.Fatal(err)
	}
	_, got := outcome(t, e)
	once := begin(t, a, protocol.Spec{Command: "cksum", Stdin: protocol.StdinBytes, StdinBytes: input})
	if _, want := outcome(t, once); got != want {
		t.Errorf("the command was given %q, want %q", got, want)
	}
}

// TestPosition: a raw watcher learns how much there was before what it gets.
func TestPosition(t *testing.T) {
	a, s := served(t)
	e := begin(t, a, protocol.Spec{ID: "x", Pipe: true, Command: "printf 12345; read x; printf 678", Stdin: protocol.StdinPipe})
	for e.pumps.total() < 5 {
		time.Sleep(time.Millisecond) // nothing announces what was read
	}
	stream := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenAttach, Mode: protocol.ModeRaw, Watcher: 1, ID: "x"}))
	var st protocol.Started
	if err := protocol.Decode(next(t, stream, protocol.KindStarted), &st); err != nil || st.Position != 5 {
		t.Errorf("%+v, %v, want the position 5", st, err)
	}
	if err := e.stdin.write(t.Context(), new(writer), 0, []byte("\n")); err != nil {
		t.Fatal(err)
	}
	if got := next(t, stream, protocol.KindOutput); string(got) != "678" {
		t.Errorf("then %q, want 678", got)
	}
}

func TestStatus(t *testing.T) {
	a, s := served(t)
	outcome(t, begin(t, a, protocol.Spec{Pipe: true, Command: "printf 12345"}))
	stream := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenStart, Watcher: 1, Spec: &protocol.Spec{ID: "x", Command: "sleep 600"}}))
	next(t, stream, protocol.KindBatch)
	got := ask(t, s, protocol.Request{Type: protocol.RequestStatus, Seq: 1}).Status
	if got == nil {
		t.Fatal("no status")
	}
	if got.Instance != a.instance || got.PID != os.Getpid() || got.Clients != 1 || got.Running != 1 || got.Settled != 1 || got.Watchers != 1 || got.OutputBytes != 5 || got.KillMethod == "" || got.Seconds <= 0 {
		t.Errorf("status %+v", got)
	}
}

// TestOnDisconnect: a command that is not to outlive its clients ends after a while without any,
// and not before; one that has a client again goes on.
func TestOnDisconnect(t *testing.T) {
	a, s := served(t)
	start := func(id string, how protocol.OnDisconnect, grace time.Duration) *execution {
		first := again(t, a)
		stream := open(t, first, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenStart, Watcher: 1, Spec: &protocol.Spec{
			ID: id, Command: "sleep 600", OnDisconnect: how, DisconnectGrace: grace,
		}}))
		next(t, stream, protocol.KindBatch)
		first.Close()
		e, err := a.find(id)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	kept := start("kept", protocol.Keep, 0)
	saved := start("saved", protocol.Kill, time.Minute)
	next(t, open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenAttach, Watcher: 1, ID: "saved"})), protocol.KindBatch)
	if saved.alone.Stop() {
		t.Error("a command with a client again is still to end")
	}
	if r, _ := outcome(t, start("killed", protocol.Kill, 50*time.Millisecond)); r.Reason != protocol.ReasonCanceled {
		t.Errorf("without a client it ended with %s", r.Reason)
	}
	never := begin(t, a, protocol.Spec{Command: "sleep 600", OnDisconnect: protocol.Kill, DisconnectGrace: 50 * time.Millisecond})
	if r, _ := outcome(t, never); r.Reason != protocol.ReasonCanceled {
		t.Errorf("never followed, it ended with %s", r.Reason)
	}
	for _, e := range []*execution{kept, saved} {
		if state := e.progress().state; state != protocol.Running {
			t.Errorf("%s is %s", e.spec.ID, state)
		}
	}
}
