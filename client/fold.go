package client

// This file is step 8, batches to view: the same document the agent changes, kept here.

import (
	"fmt"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// fold is a replica of one execution's document.
type fold struct {
	decoder chord.Decoder
	replica chord.Replica
}

// newFold accepts batches as large as the transport does: the largest view, escaped, is over
// the vocabulary's own default.
func newFold() fold {
	return fold{decoder: chord.Decoder{Limits: chord.Limits{MaxBytes: transport.MaxPayload}}}
}

// apply decodes one batch, applies it and returns the ops and the view after it.
func (f *fold) apply(wire []byte) ([]chord.Op, *View, error) {
	ops, err := f.decoder.Decode(nil, wire)
	if err != nil {
		return nil, nil, err
	}
	if err := f.replica.Apply(ops); err != nil {
		return nil, nil, err
	}
	document, _ := f.replica.Value()
	view, err := viewOf(document)
	return ops, view, err
}

// viewOf reads the document. It is not done by way of JSON, which would copy the text twice
// for each batch.
func viewOf(document any) (*View, error) {
	r := reader{}
	root := r.object(document, "the document")
	v := &View{
		State:         protocol.State(r.string(root, "state")),
		Text:          r.string(root, "text"),
		Live:          r.string(root, "live"),
		AltScreen:     r.bool(root, "altScreen"),
		LastLineBytes: r.int(root, "lastLineBytes"),
		SpillPath:     r.string(root, "spillPath"),
		Signal:        r.string(root, "signal"),
		Truncation:    r.truncation(r.object(root["truncation"], "truncation")),
	}
	if e, ok := root["spillError"]; ok {
		o := r.object(e, "spillError")
		v.SpillError = &protocol.SpillError{Cause: r.string(o, "cause"), Message: r.string(o, "message"), SafeBytes: r.int(o, "safeBytes")}
	}
	if _, ok := root["exitCode"]; ok {
		code := int(r.int(root, "exitCode"))
		v.ExitCode = &code
	}
	return v, r.err
}

// reader takes typed values out of a document and keeps the first error. A missing value is
// the zero one.
type reader struct{ err error }

func (r *reader) wrong(name string, v any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s is a %T", name, v)
	}
}

func (r *reader) object(v any, name string) map[string]any {
	o, ok := v.(map[string]any)
	if !ok {
		r.wrong(name, v)
	}
	return o
}

func (r *reader) string(o map[string]any, name string) string {
	v, present := o[name]
	s, ok := v.(string)
	if present && !ok {
		r.wrong(name, v)
	}
	return s
}

func (r *reader) int(o map[string]any, name string) int64 {
	v, present := o[name]
	n, ok := v.(float64)
	if present && !ok {
		r.wrong(name, v)
	}
	return int64(n)
}

func (r *reader) bool(o map[string]any, name string) bool {
	v, present := o[name]
	b, ok := v.(bool)
	if present && !ok {
		r.wrong(name, v)
	}
	return b
}

func (r *reader) truncation(o map[string]any) limits.Truncation {
	t := limits.Truncation{
		Truncated:             r.bool(o, "truncated"),
		TotalLines:            r.int(o, "totalLines"),
		TotalBytes:            r.int(o, "totalBytes"),
		FirstLine:             r.int(o, "firstLine"),
		OutputLines:           r.int(o, "outputLines"),
		OutputBytes:           r.int(o, "outputBytes"),
		LastLinePartial:       r.bool(o, "lastLinePartial"),
		FirstLineExceedsLimit: r.bool(o, "firstLineExceedsLimit"),
		MaxLines:              int(r.int(o, "maxLines")),
		MaxBytes:              int(r.int(o, "maxBytes")),
	}
	if o["truncatedBy"] != nil {
		by := limits.Bound(r.string(o, "truncatedBy"))
		t.TruncatedBy = &by
	}
	return t
}
