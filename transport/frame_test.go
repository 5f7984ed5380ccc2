// This file holds the tests of frames and their compression, and the fuzzing of both.

package transport

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// rawFrame builds a frame by hand: what a peer may send, right or wrong.
func rawFrame(length uint32, last byte, body ...byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, length), last), body...)
}

// zstdFrame compresses with the encoder's defaults, as a stranger would.
func zstdFrame(src []byte, opts ...zstd.EOption) []byte {
	enc, err := zstd.NewWriter(nil, append([]zstd.EOption{zstd.WithEncoderConcurrency(1)}, opts...)...)
	if err != nil {
		panic(err)
	}
	defer enc.Close()
	return enc.EncodeAll(src, nil)
}

func compressedFrame(kind byte, packed []byte) []byte {
	return rawFrame(uint32(len(packed)), kind|flagCompressed, packed...)
}

// noise returns n bytes that do not compress.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// frameCases are single frames or pieces of them, right and wrong, and what
// reading gives: a payload, or an error that matches wantErr or tooLarge. They
// feed the table test and the fuzz seeds.
var frameCases = []struct {
	name     string
	in       []byte
	limit    int
	kind     Kind
	payload  []byte
	wantErr  error
	tooLarge *FrameTooLargeError
}{
	{name: "empty payload", in: rawFrame(0, 9), limit: 10, kind: 9, payload: []byte{}},
	{name: "largest kind", in: rawFrame(2, 127, 'h', 'i'), limit: 10, kind: 127, payload: []byte("hi")},
	{name: "at the cap", in: rawFrame(4, 1, 1, 2, 3, 4), limit: 4, kind: 1, payload: []byte{1, 2, 3, 4}},
	{name: "over the cap", in: rawFrame(5, 1, 1, 2, 3, 4, 5), limit: 4, tooLarge: &FrameTooLargeError{1, 5, 4}},
	{name: "largest length", in: rawFrame(0xffffffff, 2), limit: MaxFrame, tooLarge: &FrameTooLargeError{2, 0xffffffff, MaxFrame}},
	{name: "end of frames", in: endOfFrames[:], limit: 4, wantErr: io.EOF},
	{name: "no end of frames", in: nil, limit: 4, wantErr: io.ErrUnexpectedEOF},
	{name: "cut in the header", in: []byte{0, 0, 0}, limit: 4, wantErr: io.ErrUnexpectedEOF},
	{name: "cut behind the header", in: rawFrame(3, 1), limit: 4, wantErr: io.ErrUnexpectedEOF},
	{name: "cut in the payload", in: rawFrame(3, 1, 'a'), limit: 4, wantErr: io.ErrUnexpectedEOF},
	{name: "compressed", in: compressedFrame(5, zstdFrame(logText(3000))), limit: 3000, kind: 5, payload: logText(3000)},
	{name: "compressed over the cap", in: compressedFrame(5, zstdFrame(logText(3000))), limit: 2999, tooLarge: &FrameTooLargeError{5, 3000, 2999}},
	{name: "compressed and empty", in: rawFrame(0, 5|flagCompressed), limit: 10, wantErr: ErrMalformedFrame},
	{name: "compressed and not zstd", in: compressedFrame(5, []byte("hello, this is not zstd")), limit: 100, wantErr: ErrMalformedFrame},
	{name: "compressed and cut", in: compressedFrame(5, zstdFrame(logText(3000))[:100]), limit: 3000, wantErr: ErrMalformedFrame},
	{name: "compressed without a size", in: compressedFrame(5, zstdFrame([]byte("short"), zstd.WithSingleSegment(false))), limit: 100, wantErr: ErrMalformedFrame},
	{name: "skippable", in: compressedFrame(5, []byte("\x50\x2a\x4d\x18\x04\x00\x00\x00abcd")), limit: 100, wantErr: ErrMalformedFrame},
	{name: "two in one", in: compressedFrame(5, append(zstdFrame(logText(3000)), zstdFrame(logText(3000))...)), limit: 6000, wantErr: ErrMalformedFrame},
	{name: "window over ours", in: compressedFrame(5, zstdFrame(logText(300<<10), zstd.WithWindowSize(1<<20))), limit: 1 << 20, wantErr: ErrMalformedFrame},
	{name: "says less than it holds", in: compressedFrame(5, lyingSize(zstdFrame(logText(3000)), 2000)), limit: 3000, wantErr: ErrMalformedFrame},
	{name: "says more than it holds", in: compressedFrame(5, lyingSize(zstdFrame(logText(3000)), 3500)), limit: 4000, wantErr: ErrMalformedFrame},
}

// lyingSize changes the content size in a frame's header that has two bytes of
// it: behind magic and descriptor, less 256 (RFC 8878, 3.1.1.1).
func lyingSize(packed []byte, size uint16) []byte {
	var h zstd.Header
	if err := h.Decode(packed); err != nil || h.FrameContentSize < 256 || h.FrameContentSize > 65535 || !h.SingleSegment {
		panic(fmt.Sprintf("not the header this changes: %+v, %v", h, err))
	}
	out := bytes.Clone(packed)
	binary.LittleEndian.PutUint16(out[5:], size-256)
	return out
}

func TestFrameCases(t *testing.T) {
	for _, c := range frameCases {
		for name, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "bytewise": iotest.OneByteReader} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				f := frameReader{r: wrap(bytes.NewReader(c.in)), limit: c.limit}
				kind, payload, _, err := f.next()
				switch {
				case c.tooLarge != nil:
					var got *FrameTooLargeError
					if !errors.As(err, &got) || *got != *c.tooLarge {
						t.Fatalf("error = %v, want %v", err, c.tooLarge)
					}
				case c.wantErr != nil:
					if !errors.Is(err, c.wantErr) {
						t.Fatalf("kind %d, %d bytes, error = %v; want %v", kind, len(payload), err, c.wantErr)
					}
				case err != nil || kind != c.kind || !bytes.Equal(payload, c.payload):
					t.Fatalf("got %d, %d bytes, %v; want %d, %d bytes", kind, len(payload), err, c.kind, len(c.payload))
				}
			})
		}
	}
}

// TestFramesRoundTrip writes frames of any size and content and reads them back
// in whatever pieces the reader gives.
func TestFramesRoundTrip(t *testing.T) {
	type frame struct {
		kind    Kind
		payload []byte
	}
	text := logText(300 << 10)
	rapid.Check(t, func(t *rapid.T) {
		var sent []frame
		var stream []byte
		for range rapid.IntRange(0, 6).Draw(t, "frames") {
			size := rapid.OneOf(rapid.IntRange(0, 600), rapid.IntRange(0, 300<<10)).Draw(t, "size")
			payload := text[:size]
			if rapid.Bool().Draw(t, "noise") {
				payload = noise(size)
			}
			f := frame{Kind(rapid.IntRange(0, int(MaxKind)).Draw(t, "kind")), payload}
			sent = append(sent, f)
			stream = appendFrame(stream, f.kind, f.payload, nil)
		}
		stream = append(stream, endOfFrames[:]...)
		step := rapid.IntRange(1, 100<<10).Draw(t, "step")
		r := frameReader{r: &stepReader{stream, step}, limit: MaxPayload}
		for i, want := range sent {
			kind, payload, _, err := r.next()
			if err != nil || kind != want.kind || !bytes.Equal(payload, want.payload) {
				t.Fatalf("frame %d: got %d, %d bytes, %v; want %d, %d bytes", i, kind, len(payload), err, want.kind, len(want.payload))
			}
		}
		if _, _, _, err := r.next(); err != io.EOF {
			t.Fatalf("after the last frame: %v, want io.EOF", err)
		}
	})
}

// stepReader returns at most step bytes at a time.
type stepReader struct {
	rest []byte
	step int
}

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest[:min(r.step, len(r.rest))])
	r.rest = r.rest[n:]
	return n, nil
}

func TestCompressionOnlyWhenItPays(t *testing.T) {
	for _, c := range []struct {
		name    string
		payload []byte
		want    bool
	}{
		{"short text", []byte(strings.Repeat("a", minCompress-1)), false},
		{"long enough", []byte(strings.Repeat("a", minCompress)), true},
		{"log", logText(50 << 10), true},
		{"noise", noise(50 << 10), false},
	} {
		frame := appendFrame(nil, 1, c.payload, nil)
		if got := frame[4]&flagCompressed != 0; got != c.want {
			t.Errorf("%s: compressed = %v, want %v", c.name, got, c.want)
		}
		if len(frame) > frameHeaderSize+len(c.payload) {
			t.Errorf("%s: frame of %d bytes for a payload of %d", c.name, len(frame), len(c.payload))
		}
	}
}

// TestClaimsTakeNoMemory reads frames that announce far more than they bring.
func TestClaimsTakeNoMemory(t *testing.T) {
	bomb := zstdFrame(make([]byte, 15<<20), zstd.WithWindowSize(zstdWindow))
	for _, c := range []struct {
		name  string
		in    []byte
		limit int
	}{
		{"length", rawFrame(MaxFrame, 1, 'x'), MaxFrame},
		{"length over the cap", rawFrame(MaxFrame, 1, 'x'), 4 << 20},
		{"bomb over the cap", compressedFrame(1, bomb), 4 << 20},
		{"bomb cut short", compressedFrame(1, bomb[:24]), MaxPayload},
	} {
		t.Run(c.name, func(t *testing.T) {
			const reads = 20
			zstdDecoder() // made once, not by the peer
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range reads {
				f := frameReader{r: bytes.NewReader(c.in), limit: c.limit}
				if _, _, _, err := f.next(); err == nil {
					t.Fatal("read a frame that is not there")
				}
			}
			runtime.ReadMemStats(&after)
			if got := (after.TotalAlloc - before.TotalAlloc) / reads; got > 1<<20 {
				t.Errorf("%d bytes allocated in each read, want at most 1 MiB", got)
			}
		})
	}
}

func FuzzFrame(f *testing.F) {
	if len(frameCases) == 0 {
		f.Fatal("no seeds")
	}
	for _, c := range frameCases {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 64 << 10
		r := frameReader{r: bytes.NewReader(in), limit: limit}
		for {
			kind, payload, _, err := r.next()
			if err != nil {
				return
			}
			if kind > MaxKind || len(payload) > limit {
				t.Fatalf("kind %d with %d bytes came through", kind, len(payload))
			}
			again := frameReader{r: bytes.NewReader(appendFrame(nil, kind, payload, nil)), limit: limit}
			kind2, payload2, _, err := again.next()
			if err != nil || kind2 != kind || !bytes.Equal(payload2, payload) {
				t.Fatalf("written and read again: %d, %q, %v; was %d, %q", kind2, payload2, err, kind, payload)
			}
		}
	})
}
