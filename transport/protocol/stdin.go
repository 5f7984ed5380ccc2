package protocol

// This file is the frames of standard input: bytes and where they belong.

import (
	"encoding/binary"
	"fmt"
	"math"
)

// MaxInputBytes bounds the name of a writer of stdin, [Open].Input.
const MaxInputBytes = 64

// offsetSize is the bytes before the input in a frame.
const offsetSize = 8

// AppendStdin appends to dst the payload of a [KindStdin] frame with the bytes p at an offset of
// what their writer writes, or with none that of a [KindStdinEnd] frame, and returns it.
func AppendStdin(dst []byte, offset int64, p []byte) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(offset)), p...)
}

// CutStdin takes such a payload apart. p refers to it. The error says what is wrong: it is too
// short, too long or at an offset that no stream of bytes comes to.
func CutStdin(payload []byte) (offset int64, p []byte, err error) {
	if len(payload) < offsetSize || len(payload) > offsetSize+MaxStdinFrame {
		return 0, nil, fmt.Errorf("protocol: input of %d bytes: give an offset of %d bytes and at most %d more", len(payload), offsetSize, MaxStdinFrame)
	}
	n := binary.BigEndian.Uint64(payload)
	if n > math.MaxInt64-MaxStdinFrame {
		return 0, nil, fmt.Errorf("protocol: input at the offset %d, which nothing comes to", n)
	}
	return int64(n), payload[offsetSize:], nil
}
