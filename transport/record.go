// This file is the layer under the multiplexer that notices damage: records with
// a checksum.

package transport

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

const (
	// recordHeader is length and checksum, in bytes.
	recordHeader = 2 + 4

	// maxRecord is the largest content of a record, in bytes: one piece of a
	// frame and the multiplexer's header.
	maxRecord = maxChunk + muxHeader

	// muxHeader is the size of the multiplexer's header, in bytes.
	muxHeader = 12
)

// castagnoli is the polynomial that processors compute.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged is the end of a connection that changed a byte.
var errDamaged = errors.New("the connection changed what was sent: a checksum is wrong")

// recorder carries the multiplexer's bytes as records. Without it, a byte that
// the carrier changes in a header of the multiplexer can lose a stream in
// silence, and one in a small payload is another text: yamux has no checksums,
// and those of Zstandard cover what is compressed. Reading has one goroutine,
// writing another.
//
// yamux writes the header of data and the data one after the other. They become
// one record, which saves a system call.
type recorder struct {
	wire *wire
	in   *bufio.Reader

	header [recordHeader]byte // that is being read
	record *[]byte            // that is being read, from the pool; nil between records
	unread []byte             // the rest of its content

	held []byte // the header of data that is still to come
}

func newRecorder(w *wire) *recorder {
	return &recorder{wire: w, in: bufio.NewReader(w), held: make([]byte, 0, muxHeader)}
}

// Read returns the content of the records.
func (r *recorder) Read(p []byte) (int, error) {
	if r.record == nil {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]
	if len(r.unread) == 0 {
		putBuffer(r.record)
		r.record = nil
	}
	return n, nil
}

// next reads a record, which is never empty.
func (r *recorder) next() error {
	header := r.header[:]
	if _, err := io.ReadFull(r.in, header); err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint16(header))
	if n == 0 || n > maxRecord {
		return r.damaged()
	}
	record := getBuffer()
	if cap(*record) < n {
		*record = make([]byte, n)
	}
	content := (*record)[:n]
	if _, err := io.ReadFull(r.in, content); err != nil {
		putBuffer(record)
		return noEOF(err)
	}
	if checksum(header[:2], content) != binary.BigEndian.Uint32(header[2:]) {
		putBuffer(record)
		return r.damaged()
	}
	r.record, r.unread = record, content
	return nil
}

func (r *recorder) damaged() error {
	r.wire.note(errDamaged)
	return errDamaged
}

// Write sends p in records; the header of data in one with the data.
func (r *recorder) Write(p []byte) (n int, err error) {
	if len(r.held) == 0 && announcesData(p) {
		r.held = append(r.held, p...)
		return len(p), nil
	}
	for len(p) > 0 {
		part := p[:min(len(p), maxRecord-len(r.held))]
		if err := r.send(part); err != nil {
			return n, err
		}
		n += len(part)
		p = p[len(part):]
	}
	return n, nil
}

// send writes one record, of what is held and p.
func (r *recorder) send(p []byte) error {
	buf := getBuffer()
	defer putBuffer(buf)
	b := append((*buf)[:0], 0, 0, 0, 0, 0, 0)
	b = append(append(b, r.held...), p...)
	*buf, r.held = b, r.held[:0]
	binary.BigEndian.PutUint16(b, uint16(len(b)-recordHeader))
	binary.BigEndian.PutUint32(b[2:], checksum(b[:2], b[recordHeader:]))
	_, err := r.wire.Write(b)
	return err
}

// announcesData reports whether p is a header that yamux follows with a body: of
// the type data, 0, and with a length.
func announcesData(p []byte) bool {
	return len(p) == muxHeader && p[1] == 0 && binary.BigEndian.Uint32(p[8:]) > 0
}

func checksum(length, content []byte) uint32 {
	return crc32.Update(crc32.Checksum(length, castagnoli), castagnoli, content)
}

// Close closes the connection.
func (r *recorder) Close() error { return r.wire.Close() }
