package sink

// This file is what a tool may give: text, images, and what goes with them.

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/limits"
)

// Output is what all [ToolOutput]s have in common.
//
// Its methods are safe for concurrent use, save for what [ToolOutput.Details] says. After the call has
// ended they do nothing, and those that return an error return [ErrEnded].
type Output struct {
	limits  limits.Limits       // resolved
	changed func(limits.Change) // told after a change can be flushed

	mu      sync.Mutex // guards the rest
	doc     *chord.Document
	text    text
	meta    meta
	tracker chord.Tracker     // of details and meta
	dirty   bool              // something changed since the last flush
	aside   bool              // among that, details or meta
	told    limits.Truncation // what the document says of the text
	ended   bool
	images  int // bytes of all images
	notes   int // bytes of all notes
	details details
}

// meta is what the document has beside its content, details and truncation.
type meta struct {
	usage      *lane.Usage
	addedTools []string
	terminate  bool
	source     *lane.Source
}

// newOutput returns an output that begins as state, or empty for nil.
func newOutput(l limits.Limits, state *lane.State) (*Output, error) {
	l, err := l.Resolve()
	if err != nil {
		return nil, err
	}
	o := &Output{limits: l, changed: func(limits.Change) {}, dirty: true}
	if state == nil {
		state = &lane.State{
			Content:    []lane.Block{{Type: lane.TextBlock}},
			Details:    json.RawMessage("null"),
			Truncation: limits.NewWindow(l, limits.Terminal{}).Truncation(),
		}
	}
	return o, o.seed(state)
}

// seed makes the output what an earlier one was.
func (o *Output) seed(s *lane.State) error {
	first := *s
	first.Content = slices.Clone(s.Content)
	first.Content[0] = lane.Block{Type: lane.TextBlock, Text: s.Text()}
	doc, err := chord.NewDocument(first)
	if err != nil {
		return fmt.Errorf("sink: seeding an output: %w", err)
	}
	o.doc = doc
	o.told = s.Truncation
	o.meta = meta{s.Usage, s.AddedTools, s.Terminate, s.Source}
	o.details.plain = doc.Value().(map[string]any)["details"]
	for _, b := range s.Content[1:] {
		o.images += len(b.Data)
	}
	o.text = newText(o.doc, o.limits, s.Text(), s.Truncation)
	_, err = o.tracker.Flush(o.surroundings())
	return err
}

// change runs f, which changes something, unless the call has ended, and looks at the details.
func (o *Output) change(c limits.Change, f func() error) error {
	return o.changeWithoutLook(c, func() error {
		err := f()
		if err == nil {
			o.lookNow(false)
		}
		return err
	})
}

// changeWithoutLook is change for a goroutine that may not look at the details.
func (o *Output) changeWithoutLook(c limits.Change, f func() error) error {
	o.mu.Lock()
	err := ErrEnded
	if !o.ended {
		err = f()
	}
	o.dirty = o.dirty || err == nil
	o.mu.Unlock()
	if err == nil {
		o.changed(c)
	}
	return err
}

// Write appends to the text, of which the output keeps what its limits allow. It is an
// [io.Writer]; invalid UTF-8, escape sequences and control characters do not reach the text.
func (o *Output) Write(p []byte) (int, error) {
	if err := o.writeText(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString is Write for a string.
func (o *Output) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

func (o *Output) writeText(p []byte) error {
	o.mu.Lock()
	if o.ended {
		o.mu.Unlock()
		return ErrEnded
	}
	c := o.text.write(p)
	o.dirty = o.dirty || c != limits.None
	looked := o.lookNow(false)
	o.mu.Unlock()
	if looked {
		c = limits.Shown
	}
	o.changed(c)
	return nil
}

// Replace replaces the text that is retained, and starts its totals again. Where the new text
// goes on where the old one stopped, only the difference is sent.
func (o *Output) Replace(text string) error {
	return o.change(limits.Shown, func() error {
		o.text.replace(text)
		return nil
	})
}

// Note appends a remark about the output to the text, such as a footer, on a line of its own. It is
// not part of the output: no limit cuts it off and no total counts it. All notes together may
// have [MaxNoteBytes] bytes.
func (o *Output) Note(remark string) error {
	return o.change(limits.Shown, func() error {
		if err := checkBound("notes", o.notes+len(remark), MaxNoteBytes, "bytes"); err != nil {
			return err
		}
		o.notes += len(remark)
		o.text.note(remark)
		return nil
	})
}

// Image appends an image. The bounds are [MaxImages] and [MaxImageBytes].
func (o *Output) Image(mimeType string, data []byte) error {
	return o.change(limits.Shown, func() error {
		root := o.doc.Value().(map[string]any)
		blocks := len(root["content"].([]any))
		if err := checkBound("images", blocks, MaxImages, ""); err != nil {
			return err
		}
		if err := checkBound("images", o.images+len(data), MaxImageBytes, "bytes"); err != nil {
			return err
		}
		if len(data) == 0 {
			return errors.New("sink: an image without data")
		}
		if mimeType == "" || len(mimeType) > maxMIMEType || !utf8.ValidString(mimeType) {
			return fmt.Errorf("sink: image type %.50q: give a MIME type such as image/png", mimeType)
		}
		o.images += len(data)
		return o.doc.Splice(pathContent, blocks, 0, map[string]any{ // as lane.Block is in JSON
			"type": lane.ImageBlock, "mimeType": mimeType, "data": base64.StdEncoding.EncodeToString(data),
		})
	})
}

// Capture says what the source of the text knows of it: how much there was, and where all of it
// is. The text stays as it is.
func (o *Output) Capture(t limits.Truncation, source lane.Source) error {
	return o.change(limits.Shown, func() error {
		o.text.capture(t)
		o.meta.source, o.aside = nil, true
		if source != (lane.Source{}) {
			o.meta.source = &source
		}
		return nil
	})
}

// Usage adds to what the call has spent. Negative numbers are an error.
func (o *Output) Usage(u lane.Usage) error {
	if min(u.Input, u.Output, u.CacheRead, u.CacheWrite) < 0 || !(u.Cost >= 0) || math.IsInf(u.Cost, 0) {
		return fmt.Errorf("sink: usage %+v: give what was added, 0 or more", u)
	}
	return o.change(limits.Shown, func() error {
		var sum lane.Usage
		if o.meta.usage != nil {
			sum = *o.meta.usage
		}
		sum.Input += u.Input
		sum.Output += u.Output
		sum.CacheRead += u.CacheRead
		sum.CacheWrite += u.CacheWrite
		sum.Cost += u.Cost
		o.meta.usage, o.aside = &sum, true
		return nil
	})
}

// AddTools replaces the names of the tools that the model may use from now on. The bounds are
// [MaxAddedTools] and [MaxToolName].
func (o *Output) AddTools(names []string) error {
	return o.change(limits.Shown, func() error {
		if err := checkBound("added tools", len(names), MaxAddedTools, ""); err != nil {
			return err
		}
		for _, name := range names {
			if err := checkBound("tool name", len(name), MaxToolName, "bytes"); err != nil {
				return err
			}
		}
		o.meta.addedTools, o.aside = slices.Clone(names), true
		return nil
	})
}

// Terminate replaces whether the harness is asked to end its loop after this call. It has
// nothing to do with whether the call fails.
func (o *Output) Terminate(v bool) error {
	return o.change(limits.Shown, func() error {
		o.meta.terminate, o.aside = v, true
		return nil
	})
}

// Limits returns what bounds the text: for a command, whose agent is to keep to them.
func (o *Output) Limits() limits.Limits { return o.limits }
