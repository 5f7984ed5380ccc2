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

	live        []byte // the lines that can change, if they are more than one
	liveVersion uint64 // of the screen that live was taken from
}

// minReach and maxReach bound, in bytes, the text that a cursor can go back to.
const (
	minReach = 16 << 10
	maxReach = 64 << 10
)

// NewWindow returns an empty window for the output of this terminal. The limits must have been
// through [Limits.Resolve].
func NewWindow(l Limits, t Terminal) *Window {
	w := &Window{limits: l}
	reach := max(minReach, min(maxReach, l.MaxBytes/3))
	if l.Retain == RetainHead {
		w.settled = &head{maxBytes: l.MaxBytes, maxLines: l.MaxLines, reach: reach}
	} else {
		w.settled = &tail{maxBytes: l.MaxBytes, maxLines: l.MaxLines, reach: reach}
	}
	w.terminal = newTerminal(t, w.settled, reach)
	return w
}

// Resize gives the terminal another size, as [Terminal] says. What is on its screen can no longer
// be changed but for the last line.
func (w *Window) Resize(columns, rows int) { w.terminal.screen.resize(columns, rows) }

// AltScreen reports whether the command shows its alternate screen, as editors and pagers do.
// What it prints there is not text.
func (w *Window) AltScreen() bool { return w.terminal.alternate }

// Write takes the next raw bytes of the command. It does not keep p.
func (w *Window) Write(p []byte) Change {
	if len(p) == 0 {
		return None
	}
	n, c := w.terminal.run(p)
	w.totals.add(p, n, c.newlines)
	screen := &w.terminal.screen
	full, epoch := w.full(), screen.epoch
	screen.touched = false
	if n > 0 {
		w.terminal.print(p[:n], c)
	}
	w.terminal.write(p[n:])
	if !screen.touched || full && epoch == screen.epoch {
		return Counted
	}
	return Shown
}

// full reports that nothing but taking text back can change the text shown.
func (w *Window) full() bool {
	h, ok := w.settled.(*head)
	return ok && h.full()
}

// Finish ends the output: the unfinished line becomes text, and the view is final. It may be
// called once; no Write may follow.
func (w *Window) Finish() {
	w.terminal.finish()
	w.settled.final()
	w.live = nil
}

// Totals returns the counts of everything written.
func (w *Window) Totals() Totals { return w.totals }

// Drops reports whether the view lacks text that was written.
func (w *Window) Drops() bool {
	live, end := w.terminal.screen.size(), w.settled.ended()
	return end.bytes+int64(live.bytes) > int64(w.limits.MaxBytes) ||
		linesAfter(end, w.settled.open(), live) > int64(w.limits.MaxLines)
}

// Text returns a copy of the view: settled text and the lines that can still change.
func (w *Window) Text() (text, live string) {
	e := w.view()
	return string(e.text), string(e.live)
}

// Truncation describes the view.
func (w *Window) Truncation() Truncation {
	e := w.view()
	return w.truncation(&e)
}

func (w *Window) view() extent {
	s := &w.terminal.screen
	if len(s.lines) == 1 {
		w.live = nil
		return w.settled.view(s.lines[0].buf)
	}
	if w.liveVersion != s.version || len(w.live) == 0 {
		w.live, w.liveVersion = s.live(w.live[:0]), s.version
	}
	return w.settled.view(w.live)
}

// firstLine is the number in the spill of the view's first line. It is counted from the end, so that
// lines that were printed more than once before it do not matter; where nothing is redrawn that
// is the same as counting from the beginning.
func (w *Window) firstLine(e *extent) int64 {
	before := e.start.lines + e.skipped
	if e.start.bytes == 0 && e.liveStart == 0 {
		return 1
	}
	end, live := w.settled.ended(), w.terminal.screen.size()
	text, raw := end.lines+int64(live.newlines), w.totals.Newlines-w.terminal.unseen
	unfinished := linesAfter(end, w.settled.open(), live) > text
	if unfinished && !w.totals.open && w.terminal.unseen == 0 {
		raw-- // the last newline came back to that line from above, and is not behind it
	}
	return max(0, before+raw-text) + 1
}

func (w *Window) truncation(e *extent) Truncation {
	t := Truncation{
		Truncated:             e.drops,
		TotalLines:            w.totals.Lines(),
		TotalBytes:            w.totals.Bytes,
		FirstLine:             w.firstLine(e),
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
