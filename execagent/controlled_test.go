//go:build linux

package execagent

import (
	"testing"

	"github.com/execagent/execagent/transport/protocol"
)

// TestNotices: input for a command without stdin is refused on the control stream, also when
// that is opened later; a second one is refused.
func TestNotices(t *testing.T) {
	_, s := served(t)
	deaf := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenStart, Watcher: 7, Spec: &protocol.Spec{ID: "deaf", Command: "sleep 600"}}))
	for range 3 {
		if err := deaf.WriteFrame(protocol.KindStdin, protocol.AppendStdin(nil, 0, []byte("x"))); err != nil {
			t.Fatal(err)
		}
	}
	control := open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenControl}))
	var n protocol.Notice
	if err := protocol.Decode(next(t, control, protocol.KindNotice), &n); err != nil || n.Watcher != 7 || n.Failure == nil || n.Failure.Code != protocol.CodeNoStdin {
		t.Errorf("got %+v, %v, want no-stdin for watcher 7", n, err)
	}
	next(t, open(t, s, protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenControl})), protocol.KindFailure)
	if err := control.WriteFrame(protocol.KindRequest, protocol.Encode(protocol.Request{Type: protocol.RequestList, Seq: 1})); err != nil {
		t.Fatal(err)
	}
	var r protocol.Reply
	if kind, payload, err := control.ReadFrame(); err != nil || kind != protocol.KindReply || protocol.Decode(payload, &r) != nil || len(r.Executions) != 1 {
		t.Errorf("kind %d, %+v, %v: want a reply, and no second notice", kind, r, err)
	}
}
