// This file is the step between a payload and its compressed form.

package transport

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// zstdWindow bounds how far back a match may reach, and with it the memory
	// of both coders. A payload with a larger one is not decompressed.
	//
	// Measured with 50 KiB of log-like text (go 1.26, one core of a shared
	// Xeon; encoder memory is the live heap it adds):
	//
	//	level    window  bytes  encode  decode  encoder  decoder
	//	fastest   32 KiB  10882  158 µs   46 µs  541 KiB   82 KiB
	//	fastest   64 KiB  10837  173 µs   46 µs  369 KiB  101 KiB
	//	fastest  256 KiB  10837  173 µs   46 µs  369 KiB  101 KiB
	//	default   64 KiB  10446  194 µs   44 µs 1389 KiB   99 KiB
	//	better    64 KiB   9752  343 µs   39 µs 4446 KiB  100 KiB
	//
	// A view of 50 KiB fits a window of 64 KiB whole. The default level would
	// save 4 % of the bytes for a megabyte more in an agent of 24.
	zstdWindow = 64 << 10

	// minCompress is the smallest payload worth an attempt by itself, in bytes. One
	// that is smaller goes in one packet as it is, and both ends have 30 µs less to
	// do while somebody waits for a result.
	minCompress = 1 << 10
)

// zstdEncoder and zstdDecoder serve every stream of the process, so that an
// idle stream costs no tables. Each does one call at a time; others wait.
var (
	zstdEncoder = sync.OnceValue(func() *zstd.Encoder { return newEncoder() })
	zstdDecoder = sync.OnceValue(newDecoder)
)

func newEncoder(more ...zstd.EOption) *zstd.Encoder {
	enc, err := zstd.NewWriter(nil, append([]zstd.EOption{
		zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(zstdWindow),
		zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderCRC(false), // the connection keeps bytes whole
	}, more...)...)
	if err != nil {
		panic("transport: zstd refuses our encoder options: " + err.Error())
	}
	return enc
}

func newDecoder() *zstd.Decoder {
	dec, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindow),
		zstd.WithDecoderMaxMemory(MaxPayload),
		zstd.WithDecodeAllCapLimit(true), // never past the size we checked
	)
	if err != nil {
		panic("transport: zstd refuses our decoder options: " + err.Error())
	}
	return dec
}

// compress appends src to dst as one zstd frame. It says false, and dst is
// unchanged in its length, when that does not save an eighth.
func compress(dst, src []byte) ([]byte, bool) {
	if len(src) < minCompress {
		return dst, false
	}
	return worthwhile(dst, src, zstdEncoder().EncodeAll(src, dst))
}

// worthwhile chooses between dst without src and out, which is dst with src compressed.
func worthwhile(dst, src, out []byte) ([]byte, bool) {
	if len(out)-len(dst) > len(src)-len(src)/8 {
		return dst, false
	}
	return out, true
}

// decompressedSize reads what a compressed payload says it will become, and whether
// that takes the stream's history. It refuses a size that the payload cannot hold: a block takes at least 4 bytes
// and gives at most the window (RFC 8878, 3.1.1.2).
func decompressedSize(src []byte) (size uint64, similar bool, err error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return 0, false, fmt.Errorf("zstd header: %w", err)
	}
	if h.Skippable || !h.HasFCS || h.DictionaryID > historyID {
		return 0, false, errors.New("zstd header: content size missing, or an unknown dictionary named")
	}
	if most := uint64(len(src)) / 4 * zstdWindow; h.FrameContentSize > most {
		return 0, false, fmt.Errorf("zstd header: content of %d bytes in %d compressed ones", h.FrameContentSize, len(src))
	}
	return h.FrameContentSize, h.DictionaryID == historyID, nil
}

// decompress replaces the content of dst by that of src, which must be exactly
// size bytes. The size has been checked against the cap.
func decompress(dst, src []byte, size int) ([]byte, error) {
	return decodeAll(zstdDecoder(), dst, src, size)
}

func decodeAll(dec *zstd.Decoder, dst, src []byte, size int) ([]byte, error) {
	if cap(dst) < size {
		dst = make([]byte, 0, size)
	}
	out, err := dec.DecodeAll(src, dst[:0:size])
	if err != nil {
		return dst, fmt.Errorf("zstd: %w", err)
	}
	if len(out) != size {
		return dst, fmt.Errorf("zstd: %d bytes where the header says %d", len(out), size)
	}
	return out, nil
}
