package limits

// This file is what a caller may ask for: how much of the text a view keeps, and which end.

import "fmt"

const (
	// DefaultMaxBytes is the view's bound in bytes of UTF-8 when none is given.
	DefaultMaxBytes = 50 * 1024
	// DefaultMaxLines is the view's bound in lines when none is given.
	DefaultMaxLines = 2000
	// MaxMaxBytes is the largest bound in bytes that may be asked for. A view is sent
	// whole to each new watcher, so it has to fit one frame; more is in the spill.
	MaxMaxBytes = 4 << 20
)

// Retain names the end of the output that a view keeps.
type Retain string

const (
	// RetainTail keeps the last whole lines: builds, test runs. The default.
	RetainTail Retain = "tail"
	// RetainHead keeps the beginning and stops at the bound: listings, searches.
	RetainHead Retain = "head"
)

// Limits bound a view. The zero value means the defaults.
type Limits struct {
	// MaxBytes bounds the view in bytes of UTF-8, 1 to [MaxMaxBytes]; 0 means [DefaultMaxBytes].
	MaxBytes int `json:"maxBytes,omitempty"`
	// MaxLines bounds the view in lines, an unfinished one included; 0 means [DefaultMaxLines].
	MaxLines int `json:"maxLines,omitempty"`
	// Retain is the end to keep; "" means [RetainTail].
	Retain Retain `json:"retain,omitempty"`
}

// Error reports a limit that cannot be used.
type Error struct {
	Field  string // the JSON name of the limit
	Value  string // what was given
	Remedy string // what would be accepted
}

func (e *Error) Error() string {
	return fmt.Sprintf("limits: %s %s: %s", e.Field, e.Value, e.Remedy)
}

// Resolve returns l with its zero fields replaced by the defaults, or an [*Error].
func (l Limits) Resolve() (Limits, error) {
	switch {
	case l.MaxBytes < 0 || l.MaxBytes > MaxMaxBytes:
		return l, &Error{"maxBytes", fmt.Sprint(l.MaxBytes),
			fmt.Sprintf("give 1 to %d, or 0 for the default of %d", MaxMaxBytes, DefaultMaxBytes)}
	case l.MaxLines < 0:
		return l, &Error{"maxLines", fmt.Sprint(l.MaxLines),
			fmt.Sprintf("give 1 or more, or 0 for the default of %d", DefaultMaxLines)}
	case l.Retain != "" && l.Retain != RetainHead && l.Retain != RetainTail:
		return l, &Error{"retain", fmt.Sprintf("%q", string(l.Retain)), `give "head" or "tail"`}
	}
	if l.MaxBytes == 0 {
		l.MaxBytes = DefaultMaxBytes
	}
	if l.MaxLines == 0 {
		l.MaxLines = DefaultMaxLines
	}
	if l.Retain == "" {
		l.Retain = RetainTail
	}
	return l, nil
}
