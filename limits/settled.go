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

// before is the position that text lies between and at.
func (at position) before(text []byte) position {
	return position{
		bytes: at.bytes - int64(len(text)),
		units: at.units - int64(units16(text)),
		lines: at.lines - int64(bytes.Count(text, newline)),
	}
}

// settled keeps one end of the finished text. Its last part, as far as a terminal's screen
// reaches, may be taken back.
type settled interface {
	// append adds finished text that c counts.
	append(p []byte, c counts)
	// recent returns the text that may be taken back, as far as it is within reach, bytes,
	// of the furthest that text has ever come; and whether that is all text. What it
	// returns is valid until the text changes.
	recent(reach int) (p []byte, whole bool)
	// rewind takes back the last n bytes, which recent has returned.
	rewind(n int)
	// open reports whether the text ends inside a line.
	open() bool
	// ended is where the text ends.
	ended() position
	// view selects what to show with these lines after the text.
	view(live []byte) extent
	// final is called once, after the last append; nothing follows the text then.
	final()
}

// extent is a selection from the settled text and the lines after it. The slices alias the
// window and are valid until it changes.
type extent struct {
	start, end position // of text
	text       []byte
	live       []byte
	liveStart  int   // where live begins in the lines
	skipped    int64 // newlines in the lines before that
	drops      bool
	cut        bool  // the last line is shown in part
	cutBytes   int64 // its full size, when cut
	headless   bool  // the very first line is over the limit, and only its beginning shown
}

// lines counts the lines shown, an unfinished one included.
func (e *extent) lines() int64 {
	n := e.end.lines - e.start.lines + int64(bytes.Count(e.live, newline))
	shown := e.live
	if len(shown) == 0 {
		shown = e.text
	}
	if len(shown) > 0 && shown[len(shown)-1] != '\n' {
		n++
	}
	return n
}

// size is what there is to know of lines without looking at them.
type size struct {
	bytes, newlines int
	open            bool // they end inside a line
}

func sizeOf(live []byte) size {
	return size{len(live), bytes.Count(live, newline), len(live) > 0 && live[len(live)-1] != '\n'}
}

// linesAfter counts the lines of all text and of what is after it.
func linesAfter(end position, open bool, live size) int64 {
	n := end.lines + int64(live.newlines)
	if live.open || open && live.bytes == 0 {
		n++
	}
	return n
}
