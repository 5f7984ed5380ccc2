// This file is what one direction of a stream has carried of late: the dictionary of frames
// that are like those before.

package transport

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// historySize is how much of a direction is remembered by both ends, in bytes. It is small
	// enough for an idle stream to keep. Bytes of the batches of recorded executions (more of
	// it, and how, in docs/compression.md), and the memory of one stream:
	//
	//	                       10 lines/s  50 lines/s  progress bar  1 GiB, PTY   memory
	//	each frame by itself        43890      108463         23160      497214        0
	//	history of  8 KiB           21355       62516          8950      484396    8 KiB
	//	history of 16 KiB           21127       61142          8947      481144   16 KiB
	//	history of 64 KiB           20932       59035          8941      475117   64 KiB
	//	one zstd stream             19315       57272          6866      480397  496 KiB
	historySize = 8 << 10

	// historyID is the dictionary ID in the zstd header of a frame that needs the history.
	historyID = 1

	// maxSimilar is the largest payload compressed with the history, in bytes. One that brings
	// a full view has little in common with the one before, and costs half as much without.
	maxSimilar = 16 << 10

	// minSimilar is the smallest payload worth an attempt with the history, in bytes, and the
	// least history worth one.
	minSimilar = 64
)

// history is the last historySize bytes of the payloads of one direction. Both ends have the
// same between two frames. The zero value is empty; it is for one goroutine at a time.
type history struct{ tail []byte }

// add appends a payload.
func (h *history) add(payload []byte) {
	if len(payload) > historySize {
		payload = payload[len(payload)-historySize:]
	}
	if over := len(h.tail) + len(payload) - historySize; over > 0 {
		h.tail = h.tail[:copy(h.tail, h.tail[over:])]
	}
	if need := len(h.tail) + len(payload); need > cap(h.tail) {
		grown := make([]byte, len(h.tail), min(historySize, 2*need))
		copy(grown, h.tail)
		h.tail = grown
	}
	h.tail = append(h.tail, payload...)
}

// similarEncoder and similarDecoder serve every stream of the process, one call at a time: a
// stream's history is handed to them with each frame.
var (
	similarEncoder = sync.OnceValue(func() *lockedEncoder {
		return &lockedEncoder{enc: newSimilarEncoder()}
	})
	similarDecoder = sync.OnceValue(func() *lockedDecoder { return &lockedDecoder{dec: newDecoder()} })
)

func newSimilarEncoder() *zstd.Encoder {
	return newEncoder(
		zstd.WithEncoderDictRaw(historyID, make([]byte, minSimilar)), // one to begin with
		zstd.WithSingleSegment(true),                                 // or the content size is left out of small frames
	)
}

type lockedEncoder struct {
	mu  sync.Mutex
	enc *zstd.Encoder
}

type lockedDecoder struct {
	mu  sync.Mutex
	dec *zstd.Decoder
}

// compressSimilar is compress with a history. It says false where that does not pay, or cannot.
func compressSimilar(dst, src []byte, h *history) ([]byte, bool) {
	if len(src) < minSimilar || len(src) > maxSimilar || len(h.tail) < minSimilar {
		return dst, false
	}
	l := similarEncoder()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.enc.ResetWithOptions(nil, zstd.WithEncoderDictRaw(historyID, h.tail)); err != nil {
		return dst, false
	}
	return worthwhile(dst, src, l.enc.EncodeAll(src, dst))
}

// decompressSimilar is decompress with a history.
func decompressSimilar(dst, src []byte, size int, h *history) ([]byte, error) {
	l := similarDecoder()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.dec.ResetWithOptions(nil, zstd.WithDecoderDictRaw(historyID, h.tail)); err != nil {
		return dst, fmt.Errorf("zstd: %w", err)
	}
	return decodeAll(l.dec, dst, src, size)
}
