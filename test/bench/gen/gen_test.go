// Tests that inputs are always the same and are what their kinds claim.

package gen

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"regexp"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const mib = 1 << 20

func TestSameBytesInAnyPieces(t *testing.T) {
	for _, kind := range Kinds() {
		want := sha256.Sum256(head(t, kind, mib))
		for _, piece := range []int{1, 7, 4096, blockSize - 1, blockSize, blockSize + 1, 2 * mib} {
			h := sha256.New()
			// The buffer hides WriteTo from io.CopyBuffer: this is about Read.
			r := struct{ io.Reader }{newReader(t, kind, mib)}
			n, err := io.CopyBuffer(struct{ io.Writer }{h}, r, make([]byte, piece))
			if n != mib || err != nil {
				t.Errorf("%s in pieces of %d: %d bytes, %v, want %d", kind, piece, n, err, mib)
			}
			if got := [32]byte(h.Sum(nil)); got != want {
				t.Errorf("%s in pieces of %d: hash %x, want %x", kind, piece, got, want)
			}
		}
	}
}

// A shorter input is a prefix of a longer one, whether read, written or half of each.
func TestPrefix(t *testing.T) {
	whole := map[Kind][]byte{}
	for _, kind := range Kinds() {
		whole[kind] = head(t, kind, mib)
	}
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom(Kinds()).Draw(rt, "kind")
		size := rapid.IntRange(0, mib).Draw(rt, "size")
		read := rapid.IntRange(0, size).Draw(rt, "read")
		r, err := NewReader(kind, int64(size))
		if err != nil {
			rt.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := io.CopyN(&got, struct{ io.Reader }{r}, int64(read)); err != nil {
			rt.Fatal(err)
		}
		if n, err := r.WriteTo(&got); n != int64(size-read) || err != nil {
			rt.Fatalf("WriteTo = %d, %v, want %d", n, err, size-read)
		}
		if !bytes.Equal(got.Bytes(), whole[kind][:size]) {
			rt.Fatalf("the first %d bytes of %s differ from those of a longer input", size, kind)
		}
	})
}

func TestReaderContract(t *testing.T) {
	for _, kind := range Kinds() {
		const size = 3*blockSize + 17
		if err := iotest.TestReader(newReader(t, kind, size), head(t, kind, size)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestRecordsAreShort(t *testing.T) {
	for _, kind := range Kinds() {
		s := newSource(recipes[kind].phrase)
		for range 100_000 {
			if n := len(recipes[kind].record(s, nil)); n == 0 || n > maxRecord {
				t.Fatalf("%s: record of %d bytes, want 1 to %d", kind, n, maxRecord)
			}
		}
	}
}

func TestLines(t *testing.T) {
	text := head(t, Lines, 10_000*(lineLength+1))
	for i, line := range splitLines(text) {
		if len(line) != lineLength || !bytes.HasPrefix(line, fmt.Appendf(nil, "%010d ", i)) || !printable(line) {
			t.Fatalf("line %d is %q, want its number and %d printable characters in all", i, line, lineLength)
		}
	}
	if got := bytes.Count(text, []byte("\n")); got != 10_000 {
		t.Errorf("%d lines, want 10000", got)
	}
}

func TestOneLine(t *testing.T) {
	if text := head(t, OneLine, mib); !printable(text) {
		t.Errorf("text holds something that is not printable ASCII, such as a newline")
	}
}

func TestColour(t *testing.T) {
	sgr := regexp.MustCompile("\x1b\\[[0-9;]*m")
	lines := splitLines(head(t, Colour, mib))
	for i, line := range lines[:len(lines)-1] { // the last is cut
		if len(sgr.FindAll(line, -1)) < 6 { // two of the number, two of each phrase
			t.Fatalf("line %d is %q, want at least three colours begun and ended", i, line)
		}
		if text := sgr.ReplaceAll(line, nil); !printable(text) || len(text) == 0 {
			t.Fatalf("line %d without its colours is %q, want printable ASCII", i, text)
		}
	}
}

func TestBars(t *testing.T) {
	text := head(t, Bars, mib)
	lines := splitLines(text)
	for i, line := range lines[:len(lines)-1] {
		frames := bytes.Split(line, []byte("\r"))
		if len(frames[0]) != 0 || len(frames)-1 != framesPerBar*barsPerLine {
			t.Fatalf("line %d begins with %q and has %d frames, want CR and %d", i, frames[0], len(frames)-1, framesPerBar*barsPerLine)
		}
		for j, frame := range frames[1:] {
			if want := fmt.Appendf(nil, "%03d%% [", j%framesPerBar); !bytes.HasPrefix(frame, want) || !printable(frame) {
				t.Fatalf("line %d, frame %d is %q, want %q and printable ASCII", i, j, frame, want)
			}
		}
	}
	if len(lines) < 10 {
		t.Errorf("%d lines in a MiB, want a newline now and then", len(lines))
	}
}

func TestMixed(t *testing.T) {
	text := head(t, Mixed, mib)
	if bytes.ContainsAny(text, "\x00\x1b") {
		t.Error("text holds NUL or ESC")
	}
	widths, controls, invalid := map[int]int{}, 0, 0
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			invalid++
		case r < ' ' && r != '\n':
			controls++
		default:
			widths[n]++
		}
		rest = rest[n:]
	}
	for width := 1; width <= 4; width++ {
		if widths[width] < 1000 {
			t.Errorf("%d characters of %d bytes in a MiB, want thousands", widths[width], width)
		}
	}
	if controls < 1000 || invalid < 1000 {
		t.Errorf("%d controls and %d invalid bytes in a MiB, want thousands", controls, invalid)
	}
}

func TestNewReaderRefuses(t *testing.T) {
	if _, err := NewReader("bogus", 1); err == nil {
		t.Error("NewReader of an unknown kind: no error")
	}
	if _, err := NewReader(Lines, -1); err == nil {
		t.Error("NewReader of a negative size: no error")
	}
}

func BenchmarkWriteTo(b *testing.B) {
	for _, kind := range Kinds() {
		b.Run(string(kind), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(8 * mib)
			for b.Loop() {
				if _, err := newReader(b, kind, 8*mib).WriteTo(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func newReader(t testing.TB, kind Kind, size int64) *Reader {
	t.Helper()
	r, err := NewReader(kind, size)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// head returns the first size bytes of a kind.
func head(t testing.TB, kind Kind, size int64) []byte {
	t.Helper()
	var buf bytes.Buffer
	if _, err := newReader(t, kind, size).WriteTo(&buf); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func splitLines(text []byte) [][]byte {
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

func printable(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
