package limits

// This file says what one watcher has to be told: arithmetic on absolute positions.

// Cursor remembers what one watcher has been sent. The zero value has been sent nothing. It
// belongs to the owner of the window it is used with.
type Cursor struct {
	begun       bool
	epoch       uint64 // of the screen
	start, end  position
	live        liveCursor
	altScreen   bool
	truncation  Truncation
	lastLineLen int64
}

type liveCursor struct {
	version    uint64
	start, len int
}

// Delta is what changed in a view since a [Cursor] was last used. A watcher applies it in the
// order of the fields. Its buffers are reused by the next [Window.Delta] with the same Delta.
type Delta struct {
	// Reset says that Append replaces all the watcher has of the text. It is set for a
	// first delta, when text that the watcher has can change again and is part of Live now,
	// and when text that was withheld for the sake of a long unfinished line belongs to the
	// view again.
	Reset bool
	// Truncate is how much goes from the front of the text, in UTF-16 code units.
	Truncate int
	// Append goes to the end of the text.
	Append []byte
	// LiveReset says that Live replaces the lines that can still change, the unfinished one
	// as a rule; otherwise Live extends them.
	LiveReset bool
	Live      []byte
	// Truncation is the whole state. Previous is what the watcher has, nil at first.
	Truncation Truncation
	Previous   *Truncation
	// LastLineBytes is the full size of the last line in bytes of text, its newline
	// included, when the view holds only part of it; otherwise 0.
	LastLineBytes         int64
	PreviousLastLineBytes int64
	// AltScreen says that the command shows its alternate screen.
	AltScreen, PreviousAltScreen bool

	previous Truncation
}

// Empty reports whether the watcher already has all of it.
func (d *Delta) Empty() bool {
	return !d.Reset && d.Truncate == 0 && len(d.Append) == 0 && !d.LiveReset && len(d.Live) == 0 &&
		d.Previous != nil && d.Truncation.Equal(*d.Previous) && d.LastLineBytes == d.PreviousLastLineBytes && d.AltScreen == d.PreviousAltScreen
}

// Delta fills d with what changed since c was last used, and moves c on. It costs the size of
// the change, whatever the size of the view.
func (w *Window) Delta(c *Cursor, d *Delta) {
	e := w.view()
	screen := &w.terminal.screen
	d.text(c, &e, screen.epoch)
	d.live(c, &e, screen.version)
	d.Previous, d.previous = nil, c.truncation
	if c.begun {
		d.Previous = &d.previous
	}
	d.Truncation = w.truncation(&e)
	d.PreviousLastLineBytes, d.LastLineBytes = c.lastLineLen, 0
	if e.cut {
		d.LastLineBytes = e.cutBytes
	}
	d.PreviousAltScreen, d.AltScreen = c.altScreen, w.terminal.alternate
	c.begun, c.altScreen = true, d.AltScreen
	c.epoch = screen.epoch
	c.start, c.end = e.start, e.end
	c.truncation, c.lastLineLen = d.Truncation, d.LastLineBytes
}

func (d *Delta) text(c *Cursor, e *extent, epoch uint64) {
	d.Reset = !c.begun || e.start.bytes < c.start.bytes || epoch != c.epoch
	d.Truncate = 0
	added := e.text
	switch {
	case d.Reset:
	case e.start.bytes >= c.end.bytes:
		d.Truncate = int(c.end.units - c.start.units)
	default:
		d.Truncate = int(e.start.units - c.start.units)
		added = e.text[c.end.bytes-e.start.bytes:]
	}
	d.Append = append(d.Append[:0], added...)
}

func (d *Delta) live(c *Cursor, e *extent, version uint64) {
	now := liveCursor{version, e.liveStart, len(e.live)}
	added := e.live
	extends := c.begun && now.version == c.live.version && now.start == c.live.start && now.len >= c.live.len
	if extends {
		added = e.live[c.live.len:]
	}
	d.LiveReset = !extends && (now.len > 0 || c.live.len > 0)
	d.Live = append(d.Live[:0], added...)
	c.live = now
}
