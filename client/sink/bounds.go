package sink

// This file is the bounds of an output beyond its text, and the errors about them.

import (
	"errors"
	"fmt"
)

const (
	// MaxImages and MaxImageBytes bound the images of an output: their number, and the size of
	// all their data.
	MaxImages     = 20
	MaxImageBytes = 10 << 20
	// MaxDetailsBytes bounds the details of an output, encoded as JSON.
	MaxDetailsBytes = 256 << 10
	// MaxAddedTools bounds the names given to AddTools, MaxToolName the bytes of each.
	MaxAddedTools = 256
	MaxToolName   = 256
	// MaxNoteBytes bounds the text of all notes of an output, in bytes of UTF-8.
	MaxNoteBytes = 16 << 10
	// maxErrorBytes bounds the text of the error that ends a call. It comes on top of the
	// notes, once.
	maxErrorBytes = 4 << 10
	// maxMIMEType bounds the name of an image's type, in bytes.
	maxMIMEType = 255
)

// BoundError says that a tool gave more than an output may hold. The output stays as it was.
type BoundError struct {
	What string // such as "images"
	Size int    // what it would have come to
	Max  int
	Unit string // of Size and Max; "" for a count
}

func (e *BoundError) Error() string {
	unit := e.Unit
	if unit != "" {
		unit = " " + unit
	}
	return fmt.Sprintf("sink: %d%s of %s: an output holds at most %d", e.Size, unit, e.What, e.Max)
}

// ErrEnded is returned for anything that is given to an output after its call has ended.
var ErrEnded = errors.New("sink: the call has ended and takes no more output")

// checkBound returns a [*BoundError] when size is over most.
func checkBound(what string, size, most int, unit string) error {
	if size > most {
		return &BoundError{what, size, most, unit}
	}
	return nil
}
