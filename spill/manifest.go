// The manifest: what the next agent is told of an execution. SPEC.md has the format.

package spill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	manifestVersion = 1
	// MaxManifest bounds the file of a manifest, in bytes.
	MaxManifest = 4096
	// MaxDetail bounds what a caller puts into one, in bytes of JSON.
	MaxDetail = 3 << 10
	// RecordCharge is what a manifest counts for in the store's quota, in bytes: a block of
	// the usual file systems.
	RecordCharge = 4096
)

// State is how far an execution had come when its manifest was written.
type State string

const (
	Running State = "running" // by the agent that has the directory
	Settled State = "settled" // its result is final
	Lost    State = "lost"    // its agent ended without settling it
)

// A Manifest is what is known of one execution. Everything in it is true of the output and its
// file, but not all: it is older than the output of a command that runs.
type Manifest struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	State   State     `json:"state"`
	Begun   time.Time `json:"begun"`
	// Changed is when the numbers below were true.
	Changed time.Time `json:"changed"`
	// Ended is when the execution settled, or was first found lost.
	Ended time.Time `json:"ended,omitzero"`
	// File is the name of the spill file in the directory; "" while there is none.
	File string `json:"file,omitempty"`
	// Safe is how many bytes of the output, from the first, the file holds at least.
	Safe int64 `json:"safe"`
	// Bytes and Lines count the output, also where it was not kept.
	Bytes int64 `json:"bytes"`
	Lines int64 `json:"lines"`
	// Detail is the caller's own, at most [MaxDetail] bytes.
	Detail json.RawMessage `json:"detail,omitempty"`
}

// encode returns the manifest as a line of its file.
func (m *Manifest) encode() ([]byte, error) {
	if len(m.Detail) > MaxDetail {
		return nil, fmt.Errorf("detail of %d bytes: at most %d", len(m.Detail), MaxDetail)
	}
	b, err := json.Marshal(m)
	return append(b, '\n'), err
}

// decodeManifest finds the last line of a file that is whole and keeps the rules. The file may
// hold anything.
func decodeManifest(b []byte, id string) (*Manifest, error) {
	if len(b) > MaxManifest {
		return nil, fmt.Errorf("more than %d bytes", MaxManifest)
	}
	first := errors.New("no whole line")
	for end := bytes.LastIndexByte(b, '\n'); end >= 0; {
		begin := bytes.LastIndexByte(b[:end], '\n')
		m, err := decodeLine(b[begin+1:end], id)
		if err == nil {
			return m, nil
		}
		if end == len(b)-1 {
			first = err
		}
		end = begin
	}
	return nil, first
}

func decodeLine(line []byte, id string) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(line, &m); err != nil {
		return nil, err
	}
	if problem := m.problem(id); problem != "" {
		return nil, errors.New(problem)
	}
	return &m, nil
}

// problem says what is wrong with a manifest, or "".
func (m *Manifest) problem(id string) string {
	switch {
	case m.Version != manifestVersion:
		return fmt.Sprintf("version %d, not %d: another version of the agent wrote it", m.Version, manifestVersion)
	case m.ID != id:
		return fmt.Sprintf("it is of %.40q", m.ID)
	case m.State != Running && m.State != Settled && m.State != Lost:
		return fmt.Sprintf("unknown state %.40q", m.State)
	case m.File != "" && idOfFile(m.File) != id:
		return fmt.Sprintf("its file is %.40q", m.File)
	case m.Safe < 0 || m.Safe > m.Bytes || m.Lines < 0 || m.Lines > m.Bytes:
		return fmt.Sprintf("%d safe bytes and %d lines of %d bytes", m.Safe, m.Lines, m.Bytes)
	case m.File == "" && m.Safe > 0:
		return fmt.Sprintf("%d safe bytes in no file", m.Safe)
	case len(m.Detail) > MaxDetail:
		return fmt.Sprintf("detail of %d bytes", len(m.Detail))
	}
	return ""
}

// newManifest begins the file of an id of which nothing is known.
func newManifest(root *os.Root, m *Manifest) error {
	line, err := m.encode()
	if err == nil {
		err = writeAnew(root, manifestName(m.ID), line)
	}
	return manifestError("write", m.ID, explainSpace(root, err))
}

// putManifest makes m the last line of its file. A reader finds the line before or this one,
// whenever this process dies: half a line is none. Nothing is synced, as with the output.
//
// Lines are appended, and only a full file is replaced by a new one. The usual new file and
// rename for each change frees an inode each time, and ext4 looks at all that were freed in the
// last seconds before it makes a file: measured, 0.5 to 0.8 ms where many were, 0.01 to 0.03 ms
// elsewhere.
func putManifest(root *os.Root, m *Manifest) error {
	line, err := m.encode()
	if err != nil {
		return manifestError("write", m.ID, err)
	}
	appended, err := appendLine(root, manifestName(m.ID), line)
	if !appended && err == nil {
		err = replace(root, manifestName(m.ID), line)
	}
	return manifestError("write", m.ID, explainSpace(root, err))
}

// appendLine adds a line to a file if it is there and has room.
func appendLine(root *os.Root, name string, line []byte) (bool, error) {
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, nil // it was removed, or is not ours
	}
	defer out.Close()
	info, err := out.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size()+int64(len(line)) > MaxManifest {
		return false, nil
	}
	if _, err := out.Write(line); err != nil {
		_ = out.Truncate(info.Size()) // a part of the line would spoil the next
		return false, err
	}
	return true, nil
}

// replace makes a file of one line, in the place of what had its name.
func replace(root *os.Root, name string, line []byte) error {
	temporary := name + temporaryEnding
	if err := writeAnew(root, temporary, line); err != nil {
		return err
	}
	if err := root.Rename(temporary, name); err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return nil
}

// writeAnew makes a file that was not there, removing what has its name.
func writeAnew(root *os.Root, name string, line []byte) error {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	out, err := root.OpenFile(name, flags, fileMode)
	if errors.Is(err, fs.ErrExist) {
		if err := root.Remove(name); err != nil {
			return err
		}
		out, err = root.OpenFile(name, flags, fileMode)
	}
	if err != nil {
		return err
	}
	_, err = out.Write(line)
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}

// getManifest reads a manifest. The error wraps [ErrUnknown] if there is none.
func getManifest(root *os.Root, id string) (*Manifest, error) {
	in, err := openRegular(root, manifestName(id))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrUnknown
	}
	if err != nil {
		return nil, manifestError("read", id, err)
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, MaxManifest+1))
	if err != nil {
		return nil, manifestError("read", id, err)
	}
	m, err := decodeManifest(b, id)
	return m, manifestError("read", id, err)
}

func manifestError(doing, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("spill: %s the manifest of %q: %w", doing, id, err)
}

// openRegular opens a plain file for reading, never through a link and without waiting for the
// other end of a FIFO.
func openRegular(root *os.Root, name string) (*os.File, error) {
	in, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a plain file", name)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}
