// Tests of files that cannot be written: what is safe, who is told, how often.

package spill

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// limited is a disk with room for so many bytes; a write that does not fit is done in part.
type limited struct {
	bytes.Buffer
	room     int
	short    bool // report a partial write without an error
	closeErr error
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) <= l.room-l.Len() {
		return l.Buffer.Write(p)
	}
	n, _ := l.Buffer.Write(p[:l.room-l.Len()])
	if l.short {
		return n, nil
	}
	return n, syscall.ENOSPC
}

func (l *limited) Close() error { return l.closeErr }

// Wherever the disk gets full, Safe and the returned counts are exact.
func TestFullDiskAccount(t *testing.T) {
	source := randomBytes(2, 4*bufferSize)
	rapid.Check(t, func(rt *rapid.T) {
		disk := &limited{room: rapid.IntRange(0, len(source)).Draw(rt, "room"), short: rapid.Bool().Draw(rt, "short")}
		var told []error
		f := newFile("/x", disk, unlimited{}, FileOptions{OnError: func(err error) { told = append(told, err) }})
		defer f.Close()
		written := 0
		for f.Err() == nil && written < len(source) {
			size := rapid.OneOf(rapid.IntRange(1, 70_000), rapid.IntRange(1, 2*bufferSize)).Draw(rt, "size")
			p := source[written:min(written+size, len(source))]
			n, err := f.Write(p)
			if want := min(len(p), max(0, disk.room-written)); err != nil && n != want {
				rt.Fatalf("failed Write of %d bytes at %d = %d, want %d", len(p), written, n, want)
			}
			if err == nil && n != len(p) {
				rt.Fatalf("Write of %d bytes = %d, nil", len(p), n)
			}
			written += len(p)
		}
		closeErr := f.Close()
		if !bytes.Equal(disk.Bytes(), source[:disk.Len()]) || f.Safe() != int64(disk.Len()) {
			rt.Fatalf("disk holds %d bytes, Safe() = %d: want that prefix of the source", disk.Len(), f.Safe())
		}
		if written <= disk.room {
			if closeErr != nil || len(told) != 0 {
				rt.Fatalf("%d bytes fit into %d, but Close = %v and OnError got %v", written, disk.room, closeErr, told)
			}
			return
		}
		wantWriteError(rt, closeErr, int64(disk.room))
		if len(told) != 1 || told[0] != closeErr {
			rt.Fatalf("OnError got %v, want once %v", told, closeErr)
		}
	})
}

func TestErrorIsSticky(t *testing.T) {
	disk := &limited{room: 3}
	var calls atomic.Int32
	f := newFile("/x", disk, unlimited{}, FileOptions{OnError: func(error) { calls.Add(1) }})
	f.Write([]byte("12345"))
	first := f.Flush()
	wantWriteError(t, first, 3)
	disk.room = 1 << 20 // later room does not make a hole in the file
	if n, err := f.Write(make([]byte, 2*bufferSize)); n != 0 || err != first {
		t.Errorf("Write after the error = %d, %v, want 0, %v", n, err, first)
	}
	for name, err := range map[string]error{"Flush": f.Flush(), "Err": f.Err(), "Close": f.Close(), "second Close": f.Close()} {
		if err != first {
			t.Errorf("%s after the error = %v, want %v", name, err, first)
		}
	}
	if _, err := f.Write([]byte("x")); err != first {
		t.Errorf("Write after Close = %v, want %v", err, first)
	}
	if got := disk.String(); got != "123" {
		t.Errorf("disk holds %q, want %q", got, "123")
	}
	if got := calls.Load(); got != 1 {
		t.Errorf("OnError was called %d times, want once", got)
	}
}

func TestTimerReportsErrorWithoutLocks(t *testing.T) {
	told := make(chan error, 1)
	var f *File
	f = newFile("/x", &limited{room: 2}, unlimited{}, FileOptions{OnError: func(err error) {
		f.Write([]byte("dropped")) // would deadlock under the lock
		f.Flush()
		told <- err
	}})
	f.Write([]byte("12345")) // fits the buffer; only the timer meets the disk
	wantWriteError(t, receive(t, "report of the timer's error", told), 2)
	wantWriteError(t, f.Close(), 2)
	if len(told) != 0 {
		t.Error("OnError was called twice")
	}
}

// Close returns only when the timer's goroutine is through with the File.
func TestCloseWaitsForTimer(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	var done atomic.Bool
	f := newFile("/x", &limited{}, unlimited{}, FileOptions{OnError: func(error) {
		close(entered)
		<-release
		done.Store(true)
	}})
	f.Write([]byte("x"))
	receive(t, "error met by the timer", entered)
	closed := make(chan bool)
	go func() { f.Close(); closed <- done.Load() }()
	waitUntil(t, "begin of Close", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.closed })
	select {
	case <-closed:
		t.Error("Close returned while the timer's function ran")
	default:
	}
	close(release)
	if waited := receive(t, "end of Close", closed); !waited {
		t.Error("Close returned before the timer's function did")
	}
}

func TestCloseError(t *testing.T) {
	var told error
	f := newFile("/x", &limited{room: 100, closeErr: syscall.EDQUOT}, unlimited{}, FileOptions{OnError: func(err error) { told = err }})
	f.Write([]byte("12345"))
	err := f.Close()
	if !errors.Is(err, syscall.EDQUOT) || told != err || f.Close() != err {
		t.Errorf("Close() = %v, OnError got %v, want EDQUOT for both and again", err, told)
	}
}

func wantWriteError(t rapid.TB, err error, safe int64) {
	t.Helper()
	var writeErr *WriteError
	if !errors.As(err, &writeErr) {
		t.Fatalf("error %v (%T), want a *WriteError", err, err)
	}
	if writeErr.Safe != safe || writeErr.Path == "" {
		t.Fatalf("error %+v, want %d safe bytes and a path", *writeErr, safe)
	}
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, io.ErrShortWrite) || errors.Is(err, fs.ErrClosed) {
		t.Fatalf("error %v does not wrap the disk's", err)
	}
}
