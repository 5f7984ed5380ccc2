package sink

// This file is changes to batches.

import (
	"fmt"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/client/lane"
)

// Flush returns what changed since the last flush as one batch, nothing when nothing did. The
// first is a base batch. It looks at the details, so it belongs to the goroutine that changes
// them.
func (o *Output) Flush() []chord.Op {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.lookNow(true)
	}
	return o.flush()
}

// flush is Flush without a look at the details. The caller holds mu.
func (o *Output) flush() []chord.Op {
	if !o.dirty {
		return nil
	}
	o.dirty = false
	o.settle()
	return o.doc.Flush(nil)
}

// pending reports whether there is something to flush.
func (o *Output) pending() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dirty
}

// settle brings the document up to date.
func (o *Output) settle() {
	o.text.flush()
	o.text.setTruncation(&o.told, &o.text.total)
	o.told = o.text.total
	if !o.aside {
		return
	}
	o.aside = false
	ops, err := o.tracker.Flush(o.surroundings())
	for i := 0; err == nil && i < len(ops); i++ {
		err = apply(o.doc, &ops[i])
	}
	o.text.must(err)
}

// surroundings is the part of the document that changes by difference. It costs its own size,
// whatever the size of the text.
func (o *Output) surroundings() map[string]any {
	m := map[string]any{
		"details":   o.details.plain,
		"terminate": o.meta.terminate,
	}
	if o.meta.usage != nil {
		m["usage"] = o.meta.usage
	}
	if len(o.meta.addedTools) > 0 {
		m["addedTools"] = o.meta.addedTools
	}
	if o.meta.source != nil {
		m["source"] = o.meta.source
	}
	return m
}

// State returns the output as it is now.
func (o *Output) State() (*lane.State, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle()
	s, err := lane.ReadState(o.doc.Value())
	if err != nil {
		return nil, fmt.Errorf("sink: %w", err)
	}
	return s, nil
}

// finish ends the output: the unfinished line becomes text, the remark is put after it, unless it
// is empty, and nothing more is taken.
func (o *Output) finish(remark string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.text.freeze()
	if remark != "" {
		o.text.note(remark)
	}
	o.ended, o.dirty = true, true
}

// apply makes one change of a document.
func apply(d *chord.Document, op *chord.Op) error {
	switch op.Verb {
	case chord.Replace:
		return d.Replace(op.Value)
	case chord.Set:
		return d.Set(op.Path, op.Value)
	case chord.Delete:
		return d.Delete(op.Path)
	case chord.Append:
		return d.Append(op.Path, op.Text)
	case chord.Truncate:
		return d.Truncate(op.Path, op.Count)
	case chord.Splice:
		return d.Splice(op.Path, op.Index, op.Remove, op.Items...)
	case chord.Move:
		return d.Move(op.Path, op.Perm)
	}
	return fmt.Errorf("sink: no change is called %v", op.Verb)
}
