package limits

// This file joins the steps: raw bytes go in, totals and a bounded view come out.

// Change says what a write did, for a [Publisher].
type Change uint8

const (
	// None: nothing to publish.
	None Change = iota
	// Counted: only totals moved. It may wait a second.
	Counted
	// Shown: what a watcher sees may have changed.
	Shown
	// Urgent: to be published at once, whatever the pace.
	Urgent
)

// Window is the bounded view of everything written to it, with exact totals.
//
// Make one with [NewWindow]. It has one owner, who locks around its methods; reading never
// changes what a later read returns, save that a tail's view does not move backwards. There
// is nothing to close.
type Window struct {
	limits   Limits
	totals   Totals
	terminal terminal
	settled  settled
}

// NewWindow returns an empty window. The limits must have been through [Limits.Resolve].
func NewWindow(l Limits) *Window {
	w := &Window{limits: l}
	if l.Retain == RetainHead {
		w.settled = &head{maxBytes: l.MaxBytes, maxLines: l.MaxLines}
	} else {
		w.settled = &tail{maxBytes: l.MaxBytes, maxLines: l.MaxLines}
	}
	w.terminal.init(w.settled.append)
	return w
}

// Write takes the next raw bytes of the command. It does not keep p.
func (w *Window) Write(p []byte) Change {
	if len(p) == 0 {
		return None
	}
	w.totals.Add(p)
	full := w.full()
	w.terminal.printed = false
	w.terminal.write(p)
	if full || !w.terminal.printed {
		return Counted
	}
	return Shown
}

// full reports that no further output can change the text shown.
func (w *Window) full() bool {
	h, ok := w.settled.(*head)
	return ok && h.dropped
}

// Finish ends the output: the unfinished line becomes text, and the view is final. It may be
// called once; no Write may follow.
func (w *Window) Finish() {
	w.terminal.finish()
	w.settled.final()
	w.terminal.line.buf = nil
}

// Totals returns the counts of everything written.
func (w *Window) Totals() Totals { return w.totals }

// Drops reports whether the view lacks text that was written.
func (w *Window) Drops() bool { return w.settled.drops(len(w.terminal.line.buf)) }

// Text returns a copy of the view: settled text and the unfinished line.
func (w *Window) Text() (text, live string) {
	e := w.view()
	return string(e.text), string(e.live)
}

// Truncation describes the view.
func (w *Window) Truncation() Truncation {
	e := w.view()
	return w.truncation(&e)
}

func (w *Window) view() extent { return w.settled.view(w.terminal.line.buf) }

func (w *Window) truncation(e *extent) Truncation {
	t := Truncation{
		Truncated:             e.drops,
		TotalLines:            w.totals.Lines(),
		TotalBytes:            w.totals.Bytes,
		FirstLine:             e.start.lines + 1,
		OutputLines:           e.lines(),
		OutputBytes:           int64(len(e.text) + len(e.live)),
		LastLinePartial:       e.cut,
		FirstLineExceedsLimit: e.headless,
		MaxLines:              w.limits.MaxLines,
		MaxBytes:              w.limits.MaxBytes,
	}
	switch {
	case !e.drops:
	case !e.cut && t.OutputLines >= int64(w.limits.MaxLines):
		t.TruncatedBy = &byLines
	default:
		t.TruncatedBy = &byByte
	}
	return t
}
