// The errors a caller must tell apart.

package spill

import (
	"errors"
	"fmt"
)

// ErrInvalidID is in the chain of the error of [Store.Create] for an id that is not
// 1 to [MaxIDLength] characters of A-Z, a-z, 0-9, '.', '_' and '-'.
var ErrInvalidID = errors.New("invalid id")

// A DirError says why a directory cannot hold spill files. [Open] returns it, and
// [Store.Create] when the directory was removed or replaced since.
type DirError struct {
	Dir     string // the absolute path, or what was given when it has none
	Problem string // what is wrong with it
	Remedy  string // what to do about it
	Err     error  // the operating system's error; nil when the directory is refused by our own rules
}

func (e *DirError) Error() string {
	msg := fmt.Sprintf("spill: use directory %q: %s", e.Dir, e.Problem)
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg + " (" + e.Remedy + ")"
}

func (e *DirError) Unwrap() error { return e.Err }

// A WriteError says that a File is incomplete. It never changes once it exists.
type WriteError struct {
	Path string // the file
	Safe int64  // bytes of output, from the first, that the file holds
	Err  error  // the operating system's error
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("spill: write %q: the first %d bytes are safe: %v", e.Path, e.Safe, e.Err)
}

func (e *WriteError) Unwrap() error { return e.Err }
