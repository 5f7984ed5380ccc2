package journal

// This file is the errors a caller may have to tell apart.

import (
	"errors"
	"fmt"
)

var (
	// ErrInUse is returned by [Open] for a file that another process has open.
	ErrInUse = errors.New("journal: the file is open in another process")
	// ErrUnknown is returned for a call or run that the journal does not have.
	ErrUnknown = errors.New("journal: not in the journal")
	// ErrKnown is returned by Begin for a call that was begun before.
	ErrKnown = errors.New("journal: the call was begun before")
	// ErrSettled is returned for writing to a run that is settled.
	ErrSettled = errors.New("journal: the run is settled")
)

// LimitError reports a size that no record may have.
type LimitError struct {
	What  string // such as "memo name"
	Bytes int
	Max   int
}

func (e *LimitError) Error() string {
	if e.Bytes == 0 {
		return fmt.Sprintf("journal: an empty %s: give 1 to %d bytes", e.What, e.Max)
	}
	return fmt.Sprintf("journal: a %s of %d bytes: give at most %d", e.What, e.Bytes, e.Max)
}

// CorruptError reports a record that cannot be read.
type CorruptError struct {
	Where string // which record
	Err   error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal: %s is damaged: %v", e.Where, e.Err)
}

// Unwrap returns Err.
func (e *CorruptError) Unwrap() error { return e.Err }

// VersionError reports a record that a newer version of this program wrote.
type VersionError struct {
	Where   string // which record
	Version byte
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("journal: %s is of version %d, this program knows %d: use the newer program", e.Where, e.Version, version)
}
