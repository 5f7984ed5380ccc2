package sink

// This file is the one block of text: what is kept of it, and how that gets into the document.

import (
	"strings"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/limits"
)

var (
	pathContent = chord.P("content")
	pathText    = chord.P("content", 0, "text")
	pathLive    = chord.P("content", 0, "live")
)

// text is the text of an output and its owner's alone.
//
//	[ front | of the window, or of a source ][ live ]        block = text + live
//
// One of three has the end: a window, for what the tool writes; a source, whose text comes
// bounded; or nobody, and then all of it is front. The window goes on from the front, so that
// both together keep to the limits. A source comes after it and is bounded by itself, so that
// the block may have twice the limits while a source has its end, and as long as nothing is
// written after it. What is cut off at the beginning of the end's text takes the front with it.
type text struct {
	doc    *chord.Document
	limits limits.Limits
	// live is what the document has as the unfinished line.
	live string
	// front is what is before the end's own text, units its length in UTF-16 units. With a
	// window there is none.
	front string
	units int

	window *limits.Window // nil unless it has the end
	cursor limits.Cursor
	delta  limits.Delta
	source bool // a source has the end

	// total describes everything so far; what the window says is added to it.
	total  limits.Truncation
	offset offset
	// closed says that a head was cut in the front: more text only counts.
	closed bool
	noted  bool // the front ends in a note
}

// offset is what the window does not know of.
type offset struct {
	bytes, lines, firstLine int64
	truncated               bool
	by                      *limits.Bound
	// said is what a capture gave. It holds until the window has more than saidAt bytes.
	said   *limits.Truncation
	saidAt int64
}

func newText(doc *chord.Document, l limits.Limits, content string, t limits.Truncation) text {
	tx := text{doc: doc, limits: l, front: content, units: chord.Units(content), total: t}
	tx.closed = l.Retain == limits.RetainHead && t.Truncated
	return tx
}

// write takes more of the tool's own text.
func (t *text) write(p []byte) limits.Change {
	if len(p) == 0 {
		return limits.None
	}
	t.open()
	c := t.window.Write(p)
	if t.closed && c == limits.Shown {
		c = limits.Counted
	}
	return c
}

// open gives the end to a window that goes on from the front.
func (t *text) open() {
	if t.window != nil {
		return
	}
	t.freeze()
	t.endNote()
	content := t.front
	if t.closed {
		content = "" // nothing is added to it, so the window only counts
	}
	t.begin(content)
	was := t.window.Totals()
	t.offset = offset{
		bytes:     t.total.TotalBytes - was.Bytes,
		lines:     t.total.TotalLines - was.Lines(),
		firstLine: max(0, t.total.FirstLine-1),
		truncated: t.total.Truncated,
		by:        t.total.TruncatedBy,
	}
	if !t.closed {
		t.flushWindow()
		t.front, t.units = "", 0
	}
}

// begin makes the window, with content in it.
func (t *text) begin(content string) {
	t.window = limits.NewWindow(t.limits, limits.Terminal{})
	t.cursor, t.source = limits.Cursor{}, false
	t.window.Write([]byte(content))
}

// replace makes content all there is.
func (t *text) replace(content string) {
	t.begin(content)
	t.offset, t.closed, t.noted = offset{}, false, false
	t.flushWindow()
	t.front, t.units = "", 0
}

// flush brings the document up to date.
func (t *text) flush() {
	if t.window != nil {
		t.flushWindow()
	}
}

// flushWindow writes what changed in the window since the last time. The first time it writes
// all of it, as the difference to what the document has.
func (t *text) flushWindow() {
	d := &t.delta
	t.window.Delta(&t.cursor, d)
	t.describe(&d.Truncation)
	if t.closed {
		return
	}
	switch {
	case d.Reset:
		t.setText(string(d.Append))
	default:
		if d.Truncate > 0 {
			t.must(t.doc.Truncate(pathText, d.Truncate))
		}
		if len(d.Append) > 0 {
			t.must(t.doc.Append(pathText, string(d.Append)))
		}
	}
	if d.LiveReset {
		t.setLive(string(d.Live))
	} else if len(d.Live) > 0 {
		t.setLive(t.live + string(d.Live))
	}
}

// describe makes total what the window says, and what came before it.
func (t *text) describe(now *limits.Truncation) {
	o, was := &t.offset, t.total
	if o.said != nil && now.TotalBytes == o.saidAt {
		t.total = *o.said
		return
	}
	t.total = *now
	t.total.TotalBytes += o.bytes
	t.total.TotalLines += o.lines
	if t.closed { // what is shown is what was
		t.total.FirstLine, t.total.OutputLines, t.total.OutputBytes = was.FirstLine, was.OutputLines, was.OutputBytes
		t.total.LastLinePartial, t.total.FirstLineExceedsLimit = was.LastLinePartial, was.FirstLineExceedsLimit
		t.total.Truncated, t.total.TruncatedBy = was.Truncated, was.TruncatedBy
		return
	}
	t.total.FirstLine += o.firstLine
	t.total.Truncated = t.total.Truncated || o.truncated
	if t.total.TruncatedBy == nil {
		t.total.TruncatedBy = o.by
	}
}

// freeze takes the end from whoever has it: everything becomes front.
func (t *text) freeze() {
	switch {
	case t.window != nil:
		t.window.Finish()
		t.flushWindow()
		t.window = nil
	case t.source:
		t.source = false
	default:
		return
	}
	if t.live != "" { // of a source that did not finish
		t.must(t.doc.Append(pathText, t.live))
		t.setLive("")
	}
	t.front = t.shown()
	t.units = chord.Units(t.front)
	t.closed = t.limits.Retain == limits.RetainHead && t.total.Truncated
}

// note puts a remark after everything.
func (t *text) note(remark string) {
	t.freeze()
	remark = clean(remark)
	if t.front != "" && !strings.HasSuffix(t.front, "\n") {
		remark = "\n" + remark
	}
	t.extend(remark)
	t.noted = true
}

// endNote puts what follows a note on a line of its own.
func (t *text) endNote() {
	if t.noted && !strings.HasSuffix(t.front, "\n") {
		t.extend("\n")
	}
	t.noted = false
}

// extend adds to the front, while it is all there is.
func (t *text) extend(s string) {
	t.must(t.doc.Append(pathText, s))
	t.front += s
	t.units += chord.Units(s)
}

// clean makes s text as a view has it.
func clean(s string) string {
	w := limits.NewWindow(limits.Limits{MaxBytes: limits.MaxMaxBytes, MaxLines: limits.MaxMaxBytes, Retain: limits.RetainTail}, limits.Terminal{})
	w.Write([]byte(s))
	w.Finish()
	settled, _ := w.Text()
	return settled
}

// capture makes t what is said of the text from now on.
func (t *text) capture(said limits.Truncation) {
	if t.window == nil {
		t.total = said
		return
	}
	t.flushWindow()
	now := t.window.Truncation()
	t.offset = offset{
		bytes:     said.TotalBytes - now.TotalBytes,
		lines:     said.TotalLines - now.TotalLines,
		firstLine: said.FirstLine - now.FirstLine,
		truncated: said.Truncated,
		by:        said.TruncatedBy,
		said:      &said,
		saidAt:    now.TotalBytes,
	}
	t.describe(&now)
}

// shown is the text in the document, without the unfinished line.
func (t *text) shown() string {
	root := t.doc.Value().(map[string]any)
	return root["content"].([]any)[0].(map[string]any)["text"].(string)
}

// setText makes content the text, and sends the difference where there is one that is shorter.
func (t *text) setText(content string) {
	var by chord.Tracker
	_, err := by.Flush(map[string]any{"text": t.shown()})
	t.must(err)
	ops, err := by.Flush(map[string]any{"text": content})
	t.must(err)
	for i := range ops {
		ops[i].Path = pathText
		t.must(apply(t.doc, &ops[i]))
	}
}

// setLive makes line the unfinished line.
func (t *text) setLive(line string) {
	switch was := t.live; {
	case line == was:
		return
	case line == "":
		t.must(t.doc.Delete(pathLive))
	case was != "" && strings.HasPrefix(line, was):
		t.must(t.doc.Append(pathLive, line[len(was):]))
	default:
		t.must(t.doc.Set(pathLive, line))
	}
	t.live = line
}

// must is for changes of a document whose form this package has made: an error is a bug here.
func (t *text) must(err error) {
	if err != nil {
		panic("sink: the document has another form: " + err.Error())
	}
}
