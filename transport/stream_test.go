// This file holds the tests of streams: ends, deadlines, broken frames.

package transport

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestHalfClose(t *testing.T) {
	client, agent := connectPipe(t)
	ours, theirs := openPair(t, client, agent)
	mustWrite(t, ours, 3, "question")
	if err := ours.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := ours.CloseWrite(); err != nil {
		t.Errorf("second CloseWrite: %v", err)
	}
	mustRead(t, theirs, 3, "question")
	for range 2 { // the end is said again
		if _, _, err := theirs.ReadFrame(); err != io.EOF {
			t.Fatalf("ReadFrame after the peer's CloseWrite: %v, want io.EOF", err)
		}
	}
	mustWrite(t, theirs, 4, "answer")
	mustRead(t, ours, 4, "answer")
	if err := ours.WriteFrame(3, nil); !errors.Is(err, ErrStreamClosed) {
		t.Errorf("WriteFrame after CloseWrite: %v, want ErrStreamClosed", err)
	}
}

// TestFinish ends a direction with its last frames. One that cannot be sent leaves all as it was.
func TestFinish(t *testing.T) {
	client, agent := connectPipe(t)
	ours, theirs := openPair(t, client, agent)
	mustWrite(t, ours, 3, "first")
	bad := (*FrameTooLargeError)(nil)
	if err := ours.Finish(Frame{4, []byte("not sent")}, Frame{5, make([]byte, MaxPayload+1)}); !errors.As(err, &bad) {
		t.Fatalf("Finish with a frame that is too large: %v, want a *FrameTooLargeError", err)
	}
	long := strings.Repeat("a long one ", 1000) // which is compressed
	if err := ours.Finish(Frame{4, []byte("second")}, Frame{5, []byte(long)}); err != nil {
		t.Fatal(err)
	}
	mustRead(t, theirs, 3, "first")
	mustRead(t, theirs, 4, "second")
	mustRead(t, theirs, 5, long)
	if _, _, err := theirs.ReadFrame(); err != io.EOF {
		t.Errorf("ReadFrame after the peer's Finish: %v, want io.EOF", err)
	}
	if err := ours.Finish(Frame{3, nil}); !errors.Is(err, ErrStreamClosed) {
		t.Errorf("a second Finish: %v, want ErrStreamClosed", err)
	}
	mustWrite(t, theirs, 4, "answer")
	mustRead(t, ours, 4, "answer")
}

// TestHalfCloseOutlivesTheCloseClock half-closes for much longer than a peer may
// take to answer a Close.
func TestHalfCloseOutlivesTheCloseClock(t *testing.T) {
	opts := Options{clocks: clocks{keepAlive: time.Minute, write: time.Minute, close: time.Millisecond}}
	client, agent := connectUnix(t, opts, opts)
	ours, theirs := openPair(t, client, agent)
	if err := ours.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	other, otherTheirs := openPair(t, client, agent)
	other.Close() // its clock begins after that of ours would have, had it one
	_, _, err := readToEnd(otherTheirs)
	if err != io.EOF && !errors.Is(err, ErrStreamReset) {
		t.Fatal(err)
	}
	if err := waitReset(otherTheirs); !errors.Is(err, ErrStreamReset) {
		t.Fatalf("a stream whose peer closed 1 ms ago: %v, want ErrStreamReset", err)
	}
	mustWrite(t, theirs, 1, "still here")
	mustRead(t, ours, 1, "still here")
}

// waitReset writes until the stream is gone.
func waitReset(st *Stream) error {
	for {
		if err := st.WriteFrame(1, []byte("x")); err != nil {
			return err
		}
	}
}

// readToEnd returns how many frames came and what ended them.
func readToEnd(st *Stream) (frames int, bytes int64, err error) {
	for {
		_, payload, err := st.ReadFrame()
		if err != nil {
			return frames, bytes, err
		}
		frames++
		bytes += int64(len(payload))
	}
}

func TestCloseIsACleanEndForThePeer(t *testing.T) {
	client, agent := connectPipe(t)
	ours, theirs := openPair(t, client, agent)
	mustWrite(t, ours, 1, "last")
	if err := errors.Join(ours.Close(), ours.Close()); err != nil {
		t.Errorf("Close twice: %v", err)
	}
	mustRead(t, theirs, 1, "last")
	if _, _, err := theirs.ReadFrame(); err != io.EOF {
		t.Errorf("ReadFrame after the peer's Close: %v, want io.EOF", err)
	}
	for name, err := range map[string]error{
		"WriteFrame":       ours.WriteFrame(1, nil),
		"CloseWrite":       ours.CloseWrite(),
		"ReadFrame":        second(ours.ReadFrame()),
		"SetReadDeadline":  ours.SetReadDeadline(time.Time{}),
		"SetWriteDeadline": ours.SetWriteDeadline(time.Time{}),
	} {
		if !errors.Is(err, ErrStreamClosed) {
			t.Errorf("%s after Close: %v, want ErrStreamClosed", name, err)
		}
	}
}

func second(_ Kind, _ []byte, err error) error { return err }

// TestCloseReleases closes a stream on which one goroutine is stuck reading and
// one writing.
func TestCloseReleases(t *testing.T) {
	client, agent := connectPipe(t)
	ours, theirs := openPair(t, client, agent)
	// Fill the window with the beginning of a frame that never ends.
	if _, err := ours.mux.Write(rawFrame(MaxFrame, 1, noise(streamWindow-frameHeaderSize)...)); err != nil {
		t.Fatal(err)
	}
	read, wrote := make(chan error, 1), make(chan error, 1)
	go func() { read <- second(ours.ReadFrame()) }()
	go func() { wrote <- ours.WriteFrame(1, []byte("x")) }()
	for ours.writing.TryLock() { // until WriteFrame has it
		ours.writing.Unlock()
		runtime.Gosched()
	}
	ours.Close()
	for name, ch := range map[string]chan error{"ReadFrame": read, "WriteFrame": wrote} {
		if err := <-ch; !errors.Is(err, ErrStreamClosed) {
			t.Errorf("%s: %v, want ErrStreamClosed", name, err)
		}
	}
	if _, _, err := theirs.ReadFrame(); err != io.ErrUnexpectedEOF {
		t.Errorf("the peer reads %v of the frame that was cut, want io.ErrUnexpectedEOF", err)
	}
}

// TestBadFramesEndOneStream lets a client break the rules on one stream in each
// of the ways of frameCases and uses another beside it.
func TestBadFramesEndOneStream(t *testing.T) {
	const limit = 1000
	client, agent := connect2(t, Options{}, Options{ReadLimit: limit})
	neighbour, theirNeighbour := openPair(t, client, agent)
	for _, c := range []struct {
		name string
		in   []byte
		is   error
		as   *FrameTooLargeError
	}{
		{"over the cap", rawFrame(limit+1, 7, noise(100)...), nil, &FrameTooLargeError{7, limit + 1, limit}},
		{"largest length", rawFrame(0xffffffff, 7), nil, &FrameTooLargeError{7, 0xffffffff, limit}},
		{"over the cap when decompressed", compressedFrame(7, zstdFrame(logText(limit+1))), nil, &FrameTooLargeError{7, limit + 1, limit}},
		{"not zstd", compressedFrame(7, noise(100)), ErrMalformedFrame, nil},
	} {
		ours, theirs := openPair(t, client, agent)
		if _, err := ours.mux.Write(c.in); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, _, err := theirs.ReadFrame()
			var tooLarge *FrameTooLargeError
			if c.as != nil && (!errors.As(err, &tooLarge) || *tooLarge != *c.as) {
				t.Errorf("%s: error %v, want %v", c.name, err, c.as)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s: error %v, want %v", c.name, err, c.is)
			}
		}
		// The one that broke the rules is told, even before Close.
		if _, _, err := ours.ReadFrame(); err != io.ErrUnexpectedEOF {
			t.Errorf("%s: the sender reads %v, want io.ErrUnexpectedEOF", c.name, err)
		}
		mustWrite(t, neighbour, 1, c.name)
		mustRead(t, theirNeighbour, 1, c.name)
		mustWrite(t, theirNeighbour, 2, c.name)
		mustRead(t, neighbour, 2, c.name)
	}
}

func TestWriteFrameRefusesBeforeSending(t *testing.T) {
	for _, c := range []struct {
		readLimit, max int
	}{{0, MaxPayload}, {4 << 20, 4 << 20}, {MaxPayload + 1, MaxPayload}} {
		client, agent := connect2(t, Options{}, Options{ReadLimit: c.readLimit})
		ours, theirs := openPair(t, client, agent)
		mustWrite(t, ours, 1, "before")
		mustRead(t, theirs, 1, "before")
		sent := client.BytesWritten()
		err := ours.WriteFrame(9, make([]byte, c.max+1))
		var tooLarge *FrameTooLargeError
		if !errors.As(err, &tooLarge) || *tooLarge != (FrameTooLargeError{9, uint64(c.max) + 1, uint64(c.max)}) {
			t.Errorf("limit %d: WriteFrame of %d bytes: %v", c.readLimit, c.max+1, err)
		}
		if err := ours.WriteFrame(MaxKind+1, nil); err == nil {
			t.Error("WriteFrame took a kind of 8 bits")
		}
		if now := client.BytesWritten(); now != sent {
			t.Errorf("%d bytes were sent of what was refused", now-sent)
		}
		mustWrite(t, ours, 1, "after")
		mustRead(t, theirs, 1, "after")
	}
}

func TestLargestFrame(t *testing.T) {
	client, agent := connectPipe(t)
	ours, theirs := openPair(t, client, agent)
	for name, payload := range map[string][]byte{"noise": noise(MaxPayload), "zeros": make([]byte, MaxPayload)} {
		wrote := make(chan error, 1)
		go func() { wrote <- ours.WriteFrame(MaxKind, payload) }()
		kind, got, err := theirs.ReadFrame()
		if kind != MaxKind || !bytes.Equal(got, payload) || err != nil {
			t.Errorf("%s: ReadFrame = %d, %d bytes, %v", name, kind, len(got), err)
		}
		if err := <-wrote; err != nil {
			t.Errorf("%s: WriteFrame: %v", name, err)
		}
	}
}

func TestDeadlines(t *testing.T) {
	client, agent := connectPipe(t)
	ours, theirs := openPair(t, client, agent)
	past := time.Now().Add(-time.Second)

	theirs.SetReadDeadline(past)
	if _, _, err := theirs.ReadFrame(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("ReadFrame: %v, want os.ErrDeadlineExceeded", err)
	}
	theirs.SetReadDeadline(time.Time{})
	mustWrite(t, ours, 1, "on time")
	mustRead(t, theirs, 1, "on time") // between frames nothing was lost

	if _, err := ours.mux.Write(rawFrame(10, 1, 'h', 'a', 'l', 'f')); err != nil {
		t.Fatal(err)
	}
	theirs.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	for range 2 { // inside a frame it is the end
		if _, _, err := theirs.ReadFrame(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("ReadFrame: %v, want os.ErrDeadlineExceeded", err)
		}
		theirs.SetReadDeadline(time.Time{})
	}

	ours, _ = openPair(t, client, agent)
	ours.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	for range 2 {
		if err := ours.WriteFrame(1, noise(2*streamWindow)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("WriteFrame into a full window: %v, want os.ErrDeadlineExceeded", err)
		}
		ours.SetWriteDeadline(time.Time{})
	}
}

func mustWrite(t testing.TB, st *Stream, kind Kind, payload string) {
	t.Helper()
	if err := st.WriteFrame(kind, []byte(payload)); err != nil {
		t.Fatalf("WriteFrame(%d, %q): %v", kind, payload, err)
	}
}

func mustRead(t testing.TB, st *Stream, kind Kind, payload string) {
	t.Helper()
	gotKind, got, err := st.ReadFrame()
	if gotKind != kind || string(got) != payload || err != nil {
		t.Fatalf("ReadFrame = %d, %q, %v; want %d, %q, nil", gotKind, got, err, kind, payload)
	}
}
