package client

import (
	"context"
	"io"
	"testing"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// TestTerminalOfHostileAgent: whatever an agent sends instead of raw output, following it ends
// in an error.
func TestTerminalOfHostileAgent(t *testing.T) {
	for name, frame := range map[string]struct {
		kind    transport.Kind
		payload string
	}{
		"a batch":            {protocol.KindBatch, base},
		"a gap of nothing":   {protocol.KindGap, `{"bytes":0}`},
		"a gap backwards":    {protocol.KindGap, `{"bytes":-5}`},
		"a gap of text":      {protocol.KindGap, `{"bytes":"x"}`},
		"a gap that is none": {protocol.KindGap, `[`},
		"a broken result":    {protocol.KindResult, `[`},
		"a failure":          {protocol.KindFailure, `{"code":"bad-request","message":"no"}`},
		"unknown kind":       {99, ``},
	} {
		t.Run(name, func(t *testing.T) {
			conn, f := pair(t)
			f.play(func() {
				s, o := f.accept()
				if o.Mode != protocol.ModeRaw || o.Type != protocol.OpenStart {
					t.Errorf("the client opens %+v", o)
				}
				f.write(s, protocol.KindStarted, started)
				f.write(s, protocol.KindOutput, "fine")
				_ = s.WriteFrame(frame.kind, []byte(frame.payload)) // the client may be quicker to leave
			})
			term, err := conn.StartTerminal(context.Background(), Spec{ID: "x", Command: "true"})
			if err != nil {
				t.Fatal(err)
			}
			if r, err := term.Wait(); err == nil || r != nil {
				t.Errorf("result %+v, error %v", r, err)
			}
		})
	}
}

// TestStreamOfHostileAgent: the same for a stream; what is broken is never a complete one.
func TestStreamOfHostileAgent(t *testing.T) {
	for name, frame := range map[string]struct {
		kind    transport.Kind
		payload string
	}{
		"a batch":              {protocol.KindBatch, base},
		"a gap":                {protocol.KindGap, `{"bytes":1}`},
		"stderr unasked":       {protocol.KindErrOutput, `x`},
		"its end":              {protocol.KindErrOutputEnd, ``},
		"a broken result":      {protocol.KindResult, `[`},
		"a failure":            {protocol.KindFailure, `{"code":"bad-request","message":"no"}`},
		"no result, its stdin": {protocol.KindStdin, `x`},
	} {
		t.Run(name, func(t *testing.T) {
			conn, f := pair(t)
			f.play(func() {
				st, o := f.accept()
				if o.Mode != protocol.ModeStream || !o.Spec.Pipe || o.Spec.Stdin != protocol.StdinPipe {
					t.Errorf("the client opens %+v", o)
				}
				f.write(st, protocol.KindStarted, started)
				f.write(st, protocol.KindOutput, "fine")
				_ = st.WriteFrame(frame.kind, []byte(frame.payload)) // the client may be quicker to leave
			})
			s, err := conn.StartStream(context.Background(), Spec{ID: "x", Command: "true"})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got, err := io.ReadAll(s); err == nil || string(got) != "fine" {
				t.Errorf("read %q, %v, want an error", got, err)
			}
			if r, err := s.Wait(); err == nil || r != nil {
				t.Errorf("result %+v, error %v", r, err)
			}
		})
	}
}
