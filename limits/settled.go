package limits

// This file is step 2c, text to view: what the two ways to keep settled text share.

import "bytes"

// position is a place in the settled text, counted from the start of the stream.
type position struct {
	bytes, units int64
	lines        int64 // newlines before it
}

// after is the position p bytes further on, across text.
func (at position) after(text []byte) position {
	return position{
		bytes: at.bytes + int64(len(text)),
		units: at.units + int64(units16(text)),
		lines: at.lines + int64(bytes.Count(text, newline)),
	}
}

// settled keeps one end of the finished text.
type settled interface {
	// append adds finished text that c counts.
	append(p []byte, c counts)
	// drops reports whether a view with this unfinished line lacks text.
	drops(live int) bool
	// view selects what to show with this unfinished line.
	view(live []byte) extent
	// final is called once, after the last append; the unfinished line is empty then.
	final()
}

// extent is a selection from the settled text and the unfinished line. The slices alias the
// window and are valid until it changes.
type extent struct {
	start, end position // of text
	text       []byte
	live       []byte
	liveStart  int // where live begins in the unfinished line
	drops      bool
	cut        bool  // the last line is shown in part
	cutBytes   int64 // its full size, when cut
	headless   bool  // the very first line is over the limit, and only its beginning shown
}

// lines counts the lines shown, an unfinished one included.
func (e *extent) lines() int64 {
	n := e.end.lines - e.start.lines
	if len(e.live) > 0 || len(e.text) > 0 && e.text[len(e.text)-1] != '\n' {
		n++
	}
	return n
}
