package lane

// This file takes events to another process: one JSON object each.

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/execagent/execagent/chord"
)

const (
	// MaxEventBytes bounds the JSON of an event that a [Decoder] reads.
	MaxEventBytes = 64 << 20
	// MaxStreams bounds the calls that a [Decoder] follows at a time.
	MaxStreams = 4096
)

// Encoder writes events for one consumer. It holds a chord encoder for each call that runs, so
// every event has to reach the consumer, in order; one that joins later gets an Encoder of its
// own, and [Call.Base] of each call that runs.
//
// The zero value is ready to use. It has one owner and needs no closing.
type Encoder struct {
	streams map[CallID]*chord.Encoder
}

// envelope is the JSON of an event: its type, its fields, and the ops of an update.
type envelope struct {
	Type string          `json:"type"`
	Ops  json.RawMessage `json:"ops,omitempty"`
}

// Encode appends e to dst as one JSON object without a newline inside. On an error, about ops
// that are no operations, it returns dst as it was.
func (enc *Encoder) Encode(dst []byte, e Event) ([]byte, error) {
	head := envelope{Type: e.Kind()}
	if u, ok := e.(*ToolUpdate); ok {
		wire, err := enc.stream(u.CallID).Encode(nil, u.Ops)
		if err != nil {
			return dst, fmt.Errorf("lane: encoding an update of %q: %w", u.ID, err)
		}
		head.Ops = wire
	} else {
		delete(enc.streams, endedCall(e))
	}
	first, err := marshal(head)
	if err != nil {
		return dst, fmt.Errorf("lane: encoding a %s: %w", head.Type, err)
	}
	rest, err := marshal(e)
	if err != nil {
		return dst, fmt.Errorf("lane: encoding a %s: %w", head.Type, err)
	}
	dst = append(dst, first[:len(first)-1]...)
	dst = append(dst, ',')
	return append(dst, rest[1:]...), nil
}

// marshal is json.Marshal that leaves <, > and & alone.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// endedCall is the call whose stream is over with e, the zero one for none.
func endedCall(e Event) CallID {
	switch e := e.(type) {
	case *ToolEnd:
		return e.CallID
	case *ToolStart:
		return e.CallID // it begins again
	}
	return CallID{}
}

func (enc *Encoder) stream(id CallID) *chord.Encoder {
	s := enc.streams[id]
	if s == nil {
		if enc.streams == nil {
			enc.streams = make(map[CallID]*chord.Encoder)
		}
		s = new(chord.Encoder)
		enc.streams[id] = s
	}
	return s
}

// Decoder reads what an [Encoder] wrote. The zero value is ready to use. It has one owner and
// needs no closing.
type Decoder struct {
	streams map[CallID]*chord.Decoder
}

// Decode reads one event. After an error about an update its call needs a base batch; other calls
// go on. A type it does not know is an [*UnknownEventError], which a consumer may pass over: a
// newer producer may say more.
func (d *Decoder) Decode(line []byte) (Event, error) {
	if len(line) > MaxEventBytes {
		return nil, fmt.Errorf("lane: an event of %d bytes, over the limit of %d", len(line), MaxEventBytes)
	}
	var head envelope
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("lane: decoding an event: %w", err)
	}
	e := newEvent(head.Type)
	if e == nil {
		return nil, &UnknownEventError{head.Type}
	}
	if err := json.Unmarshal(line, e); err != nil {
		return nil, fmt.Errorf("lane: decoding a %s: %w", head.Type, err)
	}
	if u, ok := e.(*ToolUpdate); ok {
		if err := d.update(u, head.Ops); err != nil {
			return nil, err
		}
		return u, nil
	}
	delete(d.streams, endedCall(e))
	return e, nil
}

func (d *Decoder) update(u *ToolUpdate, wire []byte) error {
	s := d.streams[u.CallID]
	if s == nil {
		if len(d.streams) >= MaxStreams {
			return fmt.Errorf("lane: decoding an update of %q: more than %d calls at a time", u.ID, MaxStreams)
		}
		if d.streams == nil {
			d.streams = make(map[CallID]*chord.Decoder)
		}
		s = &chord.Decoder{Limits: chord.Limits{MaxBytes: MaxEventBytes}}
		d.streams[u.CallID] = s
	}
	ops, err := s.Decode(nil, wire)
	if err != nil {
		return fmt.Errorf("lane: decoding an update of %q: %w", u.ID, err)
	}
	u.Ops = ops
	return nil
}

func newEvent(kind string) Event {
	for _, e := range []Event{
		new(ToolStart), new(ToolUpdate), new(ToolEnd), new(ToolStep), new(ApprovalRequested), new(ApprovalResolved),
	} {
		if e.Kind() == kind {
			return e
		}
	}
	return nil
}

// UnknownEventError reports an event of a type that this version does not know.
type UnknownEventError struct{ Type string }

func (e *UnknownEventError) Error() string {
	return fmt.Sprintf("lane: unknown event type %.100q", e.Type)
}
