// Tests of one file: every byte in order, batched, flushed when quiet.

package spill

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The file is the concatenation of what was written, whatever the sizes and flushes.
func TestFileHoldsEveryByte(t *testing.T) {
	s := openStore(t)
	source := randomBytes(1, 3*bufferSize)
	rapid.Check(t, func(rt *rapid.T) {
		f, err := create(s, "p", FileOptions{})
		if err != nil {
			rt.Fatal(err)
		}
		defer os.Remove(f.Path())
		defer f.Close()
		var want bytes.Buffer
		for range rapid.IntRange(0, 12).Draw(rt, "steps") {
			size := rapid.OneOf(
				rapid.IntRange(0, 100),
				rapid.IntRange(0, 70_000),
				rapid.IntRange(pieceSize-2, pieceSize+2),
				rapid.IntRange(bufferSize-2, bufferSize+2),
				rapid.IntRange(0, len(source)),
			).Draw(rt, "size")
			p := source[len(source)-size:]
			want.Write(p)
			if n, err := f.Write(p); n != size || err != nil {
				rt.Fatalf("Write of %d bytes = %d, %v", size, n, err)
			}
			if rapid.IntRange(0, 4).Draw(rt, "flush") == 0 {
				if err := f.Flush(); err != nil {
					rt.Fatal(err)
				}
				if got := f.Safe(); got != int64(want.Len()) {
					rt.Fatalf("Safe() after Flush = %d, want %d", got, want.Len())
				}
			}
			if safe := f.Safe(); safe > int64(want.Len()) {
				rt.Fatalf("Safe() = %d of %d bytes written", safe, want.Len())
			}
		}
		if err := f.Close(); err != nil {
			rt.Fatal(err)
		}
		got, err := os.ReadFile(f.Path())
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			rt.Fatalf("file of %d bytes differs from the %d bytes written", len(got), want.Len())
		}
		if f.Safe() != int64(len(got)) {
			rt.Fatalf("Safe() = %d, want %d", f.Safe(), len(got))
		}
	})
}

func TestQuietFileIsFlushedAndIdle(t *testing.T) {
	f := createFile(t, openStore(t), "x", FileOptions{})
	var want string
	for _, text := range []string{"first", " second", " third"} { // the timer is armed again each time
		f.Write([]byte(text))
		want += text
		waitUntil(t, "flush of a quiet file", func() bool { return f.Safe() == int64(len(want)) })
		if got := readFile(t, f.Path()); got != want {
			t.Fatalf("file holds %q, want %q", got, want)
		}
		waitUntil(t, "release of the buffer", func() bool { return !holdsBuffer(f) })
	}
}

// Bytes flushed by hand leave an empty buffer behind: the timer takes that too.
func TestFlushedFileBecomesIdle(t *testing.T) {
	f := createFile(t, openStore(t), "x", FileOptions{})
	f.Write([]byte("x"))
	mustDo(t, f.Flush())
	waitUntil(t, "release of the buffer", func() bool { return !holdsBuffer(f) })
}

func TestSmallWritesAreBatched(t *testing.T) {
	rec := &recorder{}
	f := newFile("/x", rec, unlimited{}, FileOptions{})
	const total, piece = 16 * bufferSize, 4096
	for range total / piece {
		if n, err := f.Write(make([]byte, piece)); n != piece || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	mustDo(t, f.Close())
	// The timer may cut a batch in two on a machine that is very busy.
	if got, want := len(rec.writes), total/pieceSize; got < want || got > 2*want {
		t.Errorf("%d bytes in pieces of %d took %d writes, want about %d", total, piece, got, want)
	}
}

func TestLargeWriteIsNotCopied(t *testing.T) {
	rec := &recorder{}
	f := newFile("/x", rec, unlimited{}, FileOptions{})
	defer f.Close()
	for _, size := range []int{pieceSize, 3*bufferSize + 1} {
		p := make([]byte, size)
		rec.writes = nil
		f.Write(p)
		if got, want := len(rec.writes), (len(p)+pieceSize-1)/pieceSize; got != want {
			t.Errorf("a write of %d bytes took %d writes, want %d", len(p), got, want)
		}
		for i, w := range rec.writes {
			if &w[0] != &p[i*pieceSize] {
				t.Errorf("write %d of %d bytes is of a copy", i, size)
			}
		}
		if holdsBuffer(f) {
			t.Errorf("a write of %d bytes that went straight through left a buffer", size)
		}
	}
}

func TestEmptyWriteTakesNoBuffer(t *testing.T) {
	f := createFile(t, openStore(t), "x", FileOptions{})
	if n, err := f.Write(nil); n != 0 || err != nil {
		t.Errorf("Write(nil) = %d, %v, want 0, nil", n, err)
	}
	if holdsBuffer(f) {
		t.Error("Write(nil) took a buffer")
	}
}

func TestClosedFile(t *testing.T) {
	f := createFile(t, openStore(t), "x", FileOptions{OnError: func(err error) { t.Errorf("OnError(%v)", err) }})
	f.Write([]byte("kept"))
	for range 2 {
		if err := f.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	}
	if holdsBuffer(f) {
		t.Error("a closed file holds a buffer")
	}
	if n, err := f.Write([]byte("late")); n != 0 || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write after Close = %d, %v, want 0 and fs.ErrClosed", n, err)
	}
	if err := f.Flush(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Flush after Close = %v, want fs.ErrClosed", err)
	}
	if err := f.Err(); err != nil {
		t.Errorf("Err() = %v, want nil: the file is complete", err)
	}
	if got := readFile(t, f.Path()); got != "kept" {
		t.Errorf("file holds %q, want %q", got, "kept")
	}
}

// A hundred files closed with bytes waiting would take 15 s if Close let the timer run down.
func TestCloseStopsTimer(t *testing.T) {
	started := time.Now()
	for range 100 {
		f := newFile("/x", &recorder{}, unlimited{}, FileOptions{})
		f.Write([]byte("x"))
		mustDo(t, f.Close())
	}
	if took := time.Since(started); took > 50*flushDelay {
		t.Errorf("100 files took %v to close, want next to nothing", took)
	}
}

// Everyone but the writer may look, flush and close while bytes come.
func TestFileConcurrency(t *testing.T) {
	s := openStore(t)
	f := createFile(t, s, "x", FileOptions{})
	want := strings.Repeat("0123456789abcde\n", 1<<16)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, look := range []func(){
		func() { _ = f.Safe() },
		func() { _ = f.Err() },
		func() { _ = f.Flush() },
	} {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					look()
				}
			}
		})
	}
	for rest := want; len(rest) > 0; rest = rest[4096:] {
		if _, err := f.Write([]byte(rest[:4096])); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		wg.Go(func() { f.Close() })
	}
	close(stop)
	wg.Wait()
	if readFile(t, f.Path()) != want {
		t.Error("file differs from what was written")
	}
}

// recorder is a file that keeps the slices it was given. Only sizes and addresses are good
// after the call.
type recorder struct{ writes [][]byte }

func (r *recorder) Write(p []byte) (int, error) { r.writes = append(r.writes, p); return len(p), nil }
func (r *recorder) Close() error                { return nil }

func holdsBuffer(f *File) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.buf != nil
}

func randomBytes(seed uint64, n int) []byte {
	var key [32]byte
	key[0] = byte(seed)
	p := make([]byte, n)
	rand.NewChaCha8(key).Read(p)
	return p
}
