package client

import (
	"errors"
	"testing"

	"github.com/execagent/execagent/transport/protocol"
)

// TestNotice: what the agent says of an input reaches its writer, and only that one.
func TestNotice(t *testing.T) {
	conn, f := pair(t)
	for want, code := range map[error]string{
		ErrNoStdin:      "no-stdin",
		ErrStdinClosed:  "stdin-closed",
		ErrProcessEnded: "ended",
	} {
		cmd, _ := start(t, conn, f)
		cmd.started.Stdin = protocol.StdinPipe
		other, _ := start(t, conn, f)
		other.started.Stdin = protocol.StdinPipe
		f.write(f.control, protocol.KindNotice, `{"watcher":999,"failure":{"code":"ended","message":"nobody's"}}`)
		f.write(f.control, protocol.KindNotice, string(protocol.Encode(protocol.Notice{Watcher: cmd.reading.watcher, Failure: &Failure{Code: protocol.Code(code), Message: "m"}})))
		answerList(t, conn, f) // what came before was read
		if _, err := cmd.Stdin().Write([]byte("x")); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", code, err, want)
		}
		if _, err := other.Stdin().Write([]byte("x")); err != nil {
			t.Errorf("%s for another: %v", code, err)
		}
	}
}

func answerList(t *testing.T, conn *Conn, f *fakeAgent) {
	t.Helper()
	f.play(func() {
		var r protocol.Request
		f.read(f.control, protocol.KindRequest, &r)
		f.write(f.control, protocol.KindReply, string(protocol.Encode(protocol.Reply{Seq: r.Seq})))
	})
	if _, err := conn.List(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// FuzzControl: whatever an agent sends on the control stream is taken or refused, no more.
func FuzzControl(f *testing.F) {
	f.Add([]byte(`{"watcher":1,"failure":{"code":"ended","message":"m"}}`))
	f.Add([]byte(`{"watcher":1}`))
	f.Add([]byte(`{"watcher":1,"taken":4}`))
	f.Add([]byte(`{"watcher":1,"taken":9223372036854775807}`))
	f.Add([]byte(`{"watcher":1,"failure":{"code":"new","message":"m"}}`))
	f.Add([]byte(`{"seq":1,"executions":[{"id":"a","state":"running","exitCode":null}],"omitted":-1}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		in := newStdin(nil)
		in.kept = []byte("input")
		replies := make(chan protocol.Reply, 1)
		l := &link{inputs: map[uint64]*stdin{1: in}, waiting: map[uint64]chan protocol.Reply{1: replies}}
		if err := l.noticed(payload); err != nil && (in.refused != nil || in.base != 0) {
			t.Errorf("%q: %v, and yet taken", payload, err)
		}
		if in.base+int64(len(in.kept)) != 5 {
			t.Errorf("%q: %d bytes are kept behind %d, want 5 in all", payload, len(in.kept), in.base)
		}
		if err := l.replied(payload); err != nil && len(replies) > 0 {
			t.Errorf("%q: %v, and yet a reply", payload, err)
		}
	})
}
