// This file holds the tests of frames compressed with what came before them.

package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// TestHistory compares with the tail of everything.
func TestHistory(t *testing.T) {
	text := noise(3 * historySize)
	rapid.Check(t, func(t *rapid.T) {
		var h history
		var all []byte
		for range rapid.IntRange(0, 20).Draw(t, "adds") {
			n := rapid.OneOf(rapid.IntRange(0, 50), rapid.IntRange(0, len(text))).Draw(t, "n")
			at := rapid.IntRange(0, len(text)-n).Draw(t, "at")
			h.add(text[at : at+n])
			all = append(all, text[at:at+n]...)
			if want := all[max(0, len(all)-historySize):]; !bytes.Equal(h.tail, want) {
				t.Fatalf("%d bytes after adding %d, want the last %d", len(h.tail), n, len(want))
			}
			if cap(h.tail) > historySize {
				t.Fatalf("%d bytes held", cap(h.tail))
			}
		}
	})
}

// batchText is what a watcher may be sent as the nth batch: small changes that are like each other.
func batchText(n int) []byte {
	return fmt.Appendf(nil, `[["a",["text"],"%010d INFO  worker-%02d compile package offset=4096\n"],["s",["truncation","totalBytes"],%d],["s",["truncation","totalLines"],%d]]`, n, n%32, n*100, n)
}

// TestSimilarFrames writes frames of both kinds in any order and reads them back, and looks at
// what they take.
func TestSimilarFrames(t *testing.T) {
	text := logText(100 << 10)
	rapid.Check(t, func(t *rapid.T) {
		var past history
		var stream []byte
		var sent [][]byte
		for i := range rapid.IntRange(0, 12).Draw(t, "frames") {
			payload := batchText(i)
			if rapid.Bool().Draw(t, "text") {
				payload = text[:rapid.IntRange(0, len(text)).Draw(t, "size")]
			}
			h := &past
			if rapid.Bool().Draw(t, "plain") {
				h = nil
			}
			stream = appendFrame(stream, 1, payload, h)
			past.add(payload)
			sent = append(sent, payload)
		}
		r := frameReader{r: bytes.NewReader(stream), limit: MaxPayload}
		for i, want := range sent {
			if _, got, _, err := r.next(); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("frame %d: %d bytes, %v; want %d", i, len(got), err, len(want))
			}
		}
	})
}

func TestSimilarFramesAreSmall(t *testing.T) {
	var past history
	plain, similar := 0, 0
	for i := range 100 {
		payload := batchText(i)
		plain += len(appendFrame(nil, 1, payload, nil))
		similar += len(appendFrame(nil, 1, payload, &past))
		past.add(payload)
	}
	if similar > plain*2/5 {
		t.Errorf("%d bytes, %d without history; want at most two fifths", similar, plain)
	}
}

// withHistory compresses as a peer with another history would.
func withHistory(id uint32, past, payload []byte) []byte {
	return compressedFrame(1, zstdFrame(payload, zstd.WithEncoderDictRaw(id, past), zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false)))
}

func TestWrongHistory(t *testing.T) {
	past, payload := bytes.Repeat(batchText(1), 3), batchText(2)
	other := bytes.ReplaceAll(past, []byte("compile"), []byte("COMPILE"))
	for _, c := range []struct {
		name string
		has  []byte
		in   []byte
		want []byte // nil for ErrMalformedFrame
	}{
		{"the same", past, withHistory(historyID, past, payload), payload},
		{"none", nil, withHistory(historyID, past, payload), nil},
		{"shorter", past[len(past)-70:], withHistory(historyID, past, payload), nil},
		{"unknown dictionary", past, withHistory(historyID+1, past, payload), nil},
		{"another of the same size", other, withHistory(historyID, past, payload), bytes.ReplaceAll(payload, []byte("compile"), []byte("COMPILE"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := frameReader{r: bytes.NewReader(c.in), limit: 1000, past: history{c.has}}
			_, got, _, err := r.next()
			if c.want == nil && !errors.Is(err, ErrMalformedFrame) {
				t.Errorf("%q, %v; want ErrMalformedFrame", got, err)
			}
			if c.want != nil && (err != nil || !bytes.Equal(got, c.want)) {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
	t.Run("bomb", func(t *testing.T) {
		r := frameReader{r: bytes.NewReader(withHistory(historyID, past, make([]byte, 1<<20))), limit: 1000, past: history{past}}
		var tooLarge *FrameTooLargeError
		if _, _, _, err := r.next(); !errors.As(err, &tooLarge) || tooLarge.Size != 1<<20 {
			t.Errorf("%v, want a *FrameTooLargeError of 1 MiB", err)
		}
	})
}

// TestSimilarStreams writes on many streams at once: their histories must not mix.
func TestSimilarStreams(t *testing.T) {
	client, agent := connectPipe(t)
	var streams sync.WaitGroup
	for i := range 8 {
		ours, theirs := openPair(t, client, agent)
		streams.Go(func() {
			for n := range 200 {
				if err := theirs.WriteSimilar(1, batchText(n*(i+1))); err != nil {
					t.Error(err)
					return
				}
			}
			theirs.CloseWrite()
		})
		streams.Go(func() {
			for n := 0; ; n++ {
				_, got, err := ours.ReadFrame()
				if err == io.EOF && n == 200 {
					return
				}
				if want := batchText(n * (i + 1)); err != nil || !bytes.Equal(got, want) {
					t.Errorf("stream %d, frame %d: %.200q, %v; want %q", i, n, got, err, want)
					return
				}
			}
		})
	}
	streams.Wait()
}

// TestCodersAreSmall bounds what the coders with a history hold, however many streams use them.
func TestCodersAreSmall(t *testing.T) {
	var past history
	past.add(logText(historySize))
	use := func(enc *zstd.Encoder, dec *zstd.Decoder) {
		for i := range 50 {
			if err := enc.ResetWithOptions(nil, zstd.WithEncoderDictRaw(historyID, past.tail)); err != nil {
				t.Fatal(err)
			}
			packed := enc.EncodeAll(batchText(i), nil)
			if err := dec.ResetWithOptions(nil, zstd.WithDecoderDictRaw(historyID, past.tail)); err != nil {
				t.Fatal(err)
			}
			if got, err := dec.DecodeAll(packed, make([]byte, 0, 1000)); err != nil || !bytes.Equal(got, batchText(i)) {
				t.Fatalf("%q, %v", got, err)
			}
		}
	}
	before := liveHeap()
	enc, dec := newSimilarEncoder(), newDecoder()
	use(enc, dec)
	held := liveHeap() - before
	t.Logf("%d KiB", held>>10)
	if held > 2<<20 {
		t.Errorf("%d bytes are held, want at most 2 MiB", held)
	}
	runtime.KeepAlive(enc)
	runtime.KeepAlive(dec)
}

func BenchmarkWriteSimilar(b *testing.B) {
	var past history
	for i := range 100 {
		past.add(batchText(i))
	}
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf = appendFrame(buf[:0], 1, batchText(7), &past)
	}
	b.ReportMetric(float64(len(buf)), "wire-B/op")
}

// FuzzSimilar reads frames behind a history of the peer's making.
func FuzzSimilar(f *testing.F) {
	past := bytes.Repeat(batchText(1), 3)
	for _, c := range frameCases {
		f.Add(past, c.in)
	}
	f.Add(past, withHistory(historyID, past, batchText(2)))
	f.Add(past[:70], withHistory(historyID, past, batchText(2)))
	f.Fuzz(func(t *testing.T, before, in []byte) {
		const limit = 64 << 10
		var h history
		h.add(before)
		r := frameReader{r: bytes.NewReader(in), limit: limit, past: h}
		for {
			kind, payload, _, err := r.next()
			if err != nil {
				return
			}
			if kind > MaxKind || len(payload) > limit {
				t.Fatalf("kind %d with %d bytes came through", kind, len(payload))
			}
			past := history{bytes.Clone(r.past.tail)}
			again := frameReader{r: bytes.NewReader(appendFrame(nil, kind, payload, &past)), limit: limit, past: past}
			kind2, payload2, _, err := again.next()
			if err != nil || kind2 != kind || !bytes.Equal(payload2, payload) {
				t.Fatalf("written and read again: %d, %q, %v; was %d, %q", kind2, payload2, err, kind, payload)
			}
		}
	})
}
