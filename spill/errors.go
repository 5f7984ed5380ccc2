// The errors a caller must tell apart.

package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// ErrInvalidID is in the chain of the error of [Store.Begin] for an id that is not 1 to
// [MaxIDLength] characters of A-Z, a-z, 0-9, '.', '_' and '-'.
var ErrInvalidID = errors.New("invalid id")

// Errors of what happened to a file or its file system.
var (
	// ErrNoInodes: no file can be made, though there may be room for bytes.
	ErrNoInodes = errors.New("the file system has no inodes left: remove files, however small")
	// ErrRemoved: somebody removed the file while it was written.
	ErrRemoved = errors.New("the file was removed while it was written")
)

// ErrUnknown is returned for an id that no manifest in the directory has.
var ErrUnknown = errors.New("no such execution")

// A DirError says why a directory cannot hold spill files. [Open] returns it, and
// [Store.Begin] when the directory was removed or replaced since.
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
	Err  error  // the operating system's error, a [*LimitError], or [ErrRemoved]
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("spill: write %q: the first %d bytes are safe: %v", e.Path, e.Safe, e.Err)
}

func (e *WriteError) Unwrap() error { return e.Err }

// A LimitError says which of the store's own bounds a write or a new manifest ran into.
type LimitError struct {
	Cause Cause // FileQuota, StoreQuota or LowSpace
	Limit int64 // the bound, in bytes
}

func (e *LimitError) Error() string {
	switch e.Cause {
	case FileQuota:
		return fmt.Sprintf("the quota for one file, %d bytes, is used up: raise it, or print less", e.Limit)
	case StoreQuota:
		return fmt.Sprintf("the quota for all files, %d bytes, is used up by commands that run: raise it, or end some", e.Limit)
	}
	return fmt.Sprintf("the file system has less than the %d bytes free that are kept for other uses: make room on it", e.Limit)
}

// Cause says in one word why output could not be kept.
type Cause string

const (
	FileQuota  Cause = "file-quota"  // the file is as large as one may be
	StoreQuota Cause = "store-quota" // the store is as large as it may be, and nothing in it can go
	LowSpace   Cause = "low-space"   // the rest of the file system is kept for others
	DiskFull   Cause = "disk-full"   // the file system, or the user's quota on it, is full
	NoInodes   Cause = "no-inodes"   // the file system can have no more files
	Denied     Cause = "denied"      // permission denied, or a read-only file system
	Directory  Cause = "directory"   // the directory is refused or cannot be made
	Removed    Cause = "removed"     // the file was removed by somebody
	SizeLimit  Cause = "size-limit"  // the file size limit of the process or the file system
	IOError    Cause = "io"          // any other error of the operating system
)

// CauseOf classifies an error of this package.
func CauseOf(err error) Cause {
	if limit := (*LimitError)(nil); errors.As(err, &limit) {
		return limit.Cause
	}
	for _, c := range []struct {
		err   error
		cause Cause
	}{
		{ErrNoInodes, NoInodes}, {ErrRemoved, Removed},
		{syscall.ENOSPC, DiskFull}, {syscall.EDQUOT, DiskFull},
		{syscall.EFBIG, SizeLimit},
		{fs.ErrPermission, Denied}, {syscall.EROFS, Denied},
	} {
		if errors.Is(err, c.err) {
			return c.cause
		}
	}
	if dir := (*DirError)(nil); errors.As(err, &dir) {
		return Directory
	}
	return IOError
}
