// This file is the step between payloads and bytes: one frame at a time.

package transport

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Kind says what a payload is. It is opaque to this package: the values, 0 to
// [MaxKind], are given their meaning by the protocol above.
type Kind uint8

// MaxKind is the largest [Kind]: the frame header has 7 bits for it.
const MaxKind Kind = 127

// Maxima of a frame, in bytes. See SPEC.md.
const (
	// MaxFrame is the largest payload on the wire, compressed or not.
	MaxFrame = 16 << 20

	// MaxPayload is the largest payload that may be written or, after
	// decompression, read.
	MaxPayload = 16 << 20
)

const (
	frameHeaderSize = 5        // u32 length, big endian; u8 flag and kind
	flagCompressed  = 0x80     // in the last byte of the header
	growStep        = 64 << 10 // first allocation for a payload still to arrive
)

// endOfFrames is the header that closes a direction. A compressed payload is
// never empty, so no frame looks like it.
var endOfFrames = [frameHeaderSize]byte{4: flagCompressed}

// appendFrame appends the frame for payload to dst, compressed if that pays; with the history of
// the direction, unless that is nil.
func appendFrame(dst []byte, kind Kind, payload []byte, h *history) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, frameHeaderSize)...)
	last := byte(kind)
	packed, ok := dst, false
	if h != nil {
		packed, ok = compressSimilar(dst, payload, h)
	}
	if !ok {
		packed, ok = compress(dst, payload)
	}
	if ok {
		dst, last = packed, last|flagCompressed
	} else {
		dst = append(dst, payload...)
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-frameHeaderSize))
	dst[start+frameHeaderSize-1] = last
	return dst
}

// frameReader reads frames from r, of payloads up to limit bytes. It holds no
// buffer while it waits for the next frame, so that an idle stream costs none
// beside its history.
type frameReader struct {
	r     io.Reader
	limit int

	hdr    [frameHeaderSize]byte
	past   history // of what was read
	length int     // of the payload last read, on the wire
	buf    *[]byte // of the payload last returned, if any
}

// next returns the next frame. The payload is valid until the next call.
// The error is io.EOF after the end-of-frames mark and only then; an end of r
// anywhere else is io.ErrUnexpectedEOF. begun tells whether part of a frame was
// consumed, so that a caller knows whether it may retry.
func (f *frameReader) next() (kind Kind, payload []byte, begun bool, err error) {
	f.release()
	n, err := io.ReadFull(f.r, f.hdr[:])
	if err != nil {
		return 0, nil, n > 0, noEOF(err)
	}
	if f.hdr == endOfFrames {
		return 0, nil, true, io.EOF
	}
	kind = Kind(f.hdr[4] &^ flagCompressed)
	length := binary.BigEndian.Uint32(f.hdr[:])
	if uint64(length) > uint64(f.limit) {
		return 0, nil, true, &FrameTooLargeError{Kind: kind, Size: uint64(length), Max: uint64(f.limit)}
	}
	f.length = int(length)
	f.buf = getBuffer()
	if *f.buf, err = readGrowing(f.r, *f.buf, f.length); err != nil {
		return 0, nil, true, noEOF(err)
	}
	if f.hdr[4]&flagCompressed != 0 {
		err = f.inflate(kind)
	}
	if err != nil {
		return 0, nil, true, err
	}
	f.past.add(*f.buf)
	return kind, *f.buf, true, nil
}

// inflate replaces the compressed payload in buf by what it stands for.
func (f *frameReader) inflate(kind Kind) error {
	size, similar, err := decompressedSize(*f.buf)
	if err != nil {
		return fmt.Errorf("%w: kind %d: %w", ErrMalformedFrame, kind, err)
	}
	if size > uint64(f.limit) {
		return &FrameTooLargeError{Kind: kind, Size: size, Max: uint64(f.limit)}
	}
	packed := f.buf
	f.buf = getBuffer()
	if similar {
		*f.buf, err = decompressSimilar(*f.buf, *packed, int(size), &f.past)
	} else {
		*f.buf, err = decompress(*f.buf, *packed, int(size))
	}
	putBuffer(packed)
	if err != nil {
		return fmt.Errorf("%w: kind %d: %w", ErrMalformedFrame, kind, err)
	}
	return nil
}

func (f *frameReader) release() {
	if f.buf != nil {
		putBuffer(f.buf)
		f.buf = nil
	}
}

// readGrowing reads exactly n bytes into buf, from its start. The buffer grows
// with what has arrived, never to what the peer merely announced.
func readGrowing(r io.Reader, buf []byte, n int) ([]byte, error) {
	buf = buf[:0]
	for len(buf) < n {
		if len(buf) == cap(buf) {
			buf = grow(buf, n)
		}
		m, err := io.ReadFull(r, buf[len(buf):min(n, cap(buf))])
		buf = buf[:len(buf)+m]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// grow returns buf with room for more, doubling towards n.
func grow(buf []byte, n int) []byte {
	size := min(n, max(growStep, 2*len(buf)))
	bigger := make([]byte, len(buf), size)
	copy(bigger, buf)
	return bigger
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
