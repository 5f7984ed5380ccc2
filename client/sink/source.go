package sink

// This file is output that comes bounded from elsewhere: a command's view goes into the text as it
// is, by its own changes.

import (
	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/limits"
)

// Pipe follows the command to its end and puts its view into the text, with its totals and the
// place of its complete output. The view is already within limits, its Spec's, for which a tool
// gives [Output.Limits]: it is not looked at again, and one that is longer is a [*BoundError].
// The result and the other errors are those of [client.Command.Wait]; what had come by then
// stays.
//
// Nothing else may write to the output meanwhile: its text would end up within the command's.
func (o *Output) Pipe(cmd *client.Command) (*client.Result, error) {
	err := o.change(limits.Urgent, func() error {
		o.text.beginSource()
		o.meta.source, o.aside = &lane.Source{ExecutionID: cmd.ID()}, true
		return nil
	})
	if err != nil {
		return nil, err
	}
	for batch, err := range cmd.Batches() {
		if err != nil {
			break // Wait returns it
		}
		if err := o.fromSource(cmd.ID(), batch.Ops, cmd.View()); err != nil {
			return nil, err
		}
	}
	return cmd.Wait()
}

// fromSource takes one batch, after which the view of the source is v.
func (o *Output) fromSource(id string, ops []chord.Op, v client.View) error {
	if err := checkBound("the command's view", len(v.Text)+len(v.Live), o.limits.MaxBytes, "bytes"); err != nil {
		return err
	}
	now := sourceOf(id, &v)
	return o.changeWithoutLook(weight(ops), func() error {
		if o.meta.source == nil || *o.meta.source != *now {
			o.meta.source, o.aside = now, true
		}
		o.text.fromSource(ops, &v)
		return nil
	})
}

const (
	// maxSpillPath is as long as Linux lets a path be, in bytes; what a longer one names is not
	// there.
	maxSpillPath = 4096
	// maxSpillError bounds why a spill is incomplete, in bytes.
	maxSpillError = 1024
)

// sourceOf says where all of a view's text is.
func sourceOf(id string, v *client.View) *lane.Source {
	s := &lane.Source{ExecutionID: id, SpillPath: cut(v.SpillPath, maxSpillPath)}
	if v.SpillError != nil {
		s.SpillError, s.SafeBytes = cut(v.SpillError.Message, maxSpillError), v.SpillError.SafeBytes
	}
	return s
}

// weight says how soon a source's batch is to be published.
func weight(ops []chord.Op) limits.Change {
	c := limits.Counted
	for i := range ops {
		switch path := ops[i].Path; {
		case len(path) == 0 || path.Equal(sourceText) || path.Equal(sourceLive):
			c = max(c, limits.Shown)
		case path[0] == sourceSpill || path[0] == sourceSpillError:
			c = limits.Urgent
		}
	}
	return c
}

// Where a view has its text and the place of its complete output.
var (
	sourceText       = chord.P("text")
	sourceLive       = chord.P("live")
	sourceSpill      = chord.Key("spillPath")
	sourceSpillError = chord.Key("spillError")
)

// beginSource gives the end to a source.
func (t *text) beginSource() {
	t.freeze()
	t.endNote()
	t.offset = offset{truncated: t.total.Truncated, by: t.total.TruncatedBy}
	t.fitFront()
	t.source = true
}

// fitFront brings the front within the limits, which two sources one after the other can have
// taken it over.
func (t *text) fitFront() {
	w := limits.NewWindow(t.limits, limits.Terminal{Raw: true})
	w.Write([]byte(t.front))
	w.Finish()
	if !w.Drops() {
		return
	}
	if t.limits.Retain == limits.RetainHead {
		t.closed = true
	} else {
		kept, _ := w.Text()
		t.setText(kept)
		t.front, t.units = kept, chord.Units(kept)
	}
	t.offset.truncated, t.offset.by = true, w.Truncation().TruncatedBy
}

// fromSource makes the changes of a source's text, which then is that of v.
func (t *text) fromSource(ops []chord.Op, v *client.View) {
	t.total = v.Truncation
	if t.offset.truncated {
		t.total.Truncated = true
		if t.total.TruncatedBy == nil {
			t.total.TruncatedBy = t.offset.by
		}
	}
	if t.closed {
		return
	}
	if v.Truncation.Truncated && t.limits.Retain == limits.RetainTail {
		t.dropFront()
	}
	for i := range ops {
		switch op := &ops[i]; {
		case op.Verb == chord.Replace || op.Verb == chord.Set && op.Path.Equal(sourceText):
			t.setText(t.front + v.Text)
			t.setLive(v.Live)
			return
		case op.Verb == chord.Append && op.Path.Equal(sourceText):
			t.must(t.doc.Append(pathText, op.Text))
		case op.Verb == chord.Truncate && op.Path.Equal(sourceText):
			t.must(t.doc.Truncate(pathText, op.Count))
		}
	}
	t.setLive(v.Live)
}

// dropFront removes what is before the source's text.
func (t *text) dropFront() {
	if t.units > 0 {
		t.must(t.doc.Truncate(pathText, t.units))
		t.front, t.units = "", 0
	}
}
