//go:build linux

package execagent

// This file is a connection's control stream: requests, acknowledgements and notices.

import (
	"errors"
	"fmt"
	"io"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// maxEarly is how many notices wait for a control stream. Clients open that first, so that
// more would be for one that never does.
const maxEarly = 16

// controlled serves the stream that never queues behind output.
func (s *session) controlled(stream *transport.Stream) error {
	if err := s.setControl(stream); err != nil {
		return err
	}
	defer s.clearControl()
	for {
		kind, payload, err := stream.ReadFrame()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var r protocol.Request
		if kind != protocol.KindRequest {
			return fmt.Errorf("a control stream carries frames of kind %d, not %d", protocol.KindRequest, kind)
		} else if err := protocol.Decode(payload, &r); err != nil {
			return err
		}
		if r.Type == protocol.RequestAck {
			s.ack(&r)
			continue
		}
		reply := protocol.Reply{Seq: r.Seq}
		if err := s.agent.request(&r, &reply); err != nil && !errors.As(err, &reply.Failure) {
			return err
		} else if err != nil {
			reply.Failure = shorten(reply.Failure)
		}
		if err := stream.WriteFrame(protocol.KindReply, protocol.Encode(reply)); err != nil {
			return err
		}
	}
}

func (s *session) setControl(stream *transport.Stream) error {
	s.mu.Lock()
	if s.control != nil {
		s.mu.Unlock()
		return refuse(protocol.CodeBadRequest, "this connection has a control stream already")
	}
	s.control = stream
	early := s.early
	s.early = nil
	s.mu.Unlock()
	for _, notice := range early {
		if err := stream.WriteFrame(protocol.KindNotice, notice); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) clearControl() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.control = nil
}

// notify tells the client what becomes of the input of one of its watchers. It does so on the
// control stream: a client that only writes does not read the watcher's.
func (s *session) notify(n *protocol.Notice) {
	notice := protocol.Encode(n)
	s.mu.Lock()
	stream := s.control
	if stream == nil && len(s.early) < maxEarly {
		s.early = append(s.early, notice)
	}
	s.mu.Unlock()
	if stream != nil {
		_ = stream.WriteFrame(protocol.KindNotice, notice) // else the session is over
	}
}

func (s *session) ack(r *protocol.Request) {
	s.mu.Lock()
	w := s.watchers[r.Watcher]
	s.mu.Unlock()
	if w != nil { // else it has just ended
		w.acked(r.Count)
	}
}
