package limits

// This file is what a view says about itself: totals of the raw output, and what of it is shown.

import "bytes"

// Totals count everything a command wrote, raw, whatever of it is shown.
type Totals struct {
	Bytes int64 // raw bytes: the size of the complete spill
	// Newlines counts raw '\n' bytes.
	Newlines int64
	open     bool // the last byte was not a newline
}

// add counts p, the first n bytes of which have so many newlines.
func (t *Totals) add(p []byte, n, newlines int) {
	t.Bytes += int64(len(p))
	t.Newlines += int64(newlines + bytes.Count(p[n:], newline))
	t.open = p[len(p)-1] != '\n'
}

// Lines is the number of lines, a final unterminated one included.
func (t *Totals) Lines() int64 {
	if t.open {
		return t.Newlines + 1
	}
	return t.Newlines
}

// Bound names the limit that bound a view.
type Bound string

const (
	// ByLines says the view holds as many lines as it may.
	ByLines Bound = "lines"
	// ByBytes says one more line would not have fitted, or a line had to be cut.
	ByBytes Bound = "bytes"
)

// Truncation describes a view: what it holds, of how much, and why not more.
type Truncation struct {
	// Truncated says that text a person would have seen is not in the view.
	Truncated bool `json:"truncated"`
	// TruncatedBy names the limit that bound the view; nil when not truncated.
	TruncatedBy *Bound `json:"truncatedBy"`
	// TotalLines counts the raw lines written so far, a final unterminated one included.
	TotalLines int64 `json:"totalLines"`
	// TotalBytes counts the raw bytes written so far: the size of a complete spill.
	TotalBytes int64 `json:"totalBytes"`
	// FirstLine is the number of the view's first line in the spill, from 1; lines
	// FirstLine to FirstLine+OutputLines-1 of the spill are what the view shows.
	FirstLine int64 `json:"firstLine"`
	// OutputLines counts the lines in the view, an unfinished or cut one included.
	OutputLines int64 `json:"outputLines"`
	// OutputBytes is the size of the view in bytes of UTF-8.
	OutputBytes int64 `json:"outputBytes"`
	// LastLinePartial says the view holds only part of its last line: the end of it in
	// a tail, the beginning in a head.
	LastLinePartial bool `json:"lastLinePartial"`
	// FirstLineExceedsLimit says that the very first line alone is over MaxBytes, so that
	// a head holds nothing but the beginning of it. Never set for a tail.
	FirstLineExceedsLimit bool `json:"firstLineExceedsLimit"`
	MaxLines              int  `json:"maxLines"` // the bound in force, lines
	MaxBytes              int  `json:"maxBytes"` // the bound in force, bytes
}

// Equal reports whether t and o say the same.
func (t Truncation) Equal(o Truncation) bool {
	if (t.TruncatedBy == nil) != (o.TruncatedBy == nil) ||
		t.TruncatedBy != nil && *t.TruncatedBy != *o.TruncatedBy {
		return false
	}
	t.TruncatedBy, o.TruncatedBy = nil, nil
	return t == o
}

var (
	newline         = []byte{'\n'}
	byLines, byByte = ByLines, ByBytes
)
