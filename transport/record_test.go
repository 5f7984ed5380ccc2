package transport

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// memory is a connection that keeps what is written for the reader.
type memory struct{ bytes.Buffer }

func (*memory) Close() error { return nil }

// TestRecords: what goes in comes out, however it is cut, and a byte that was changed or is
// missing at the end is an error, behind nothing that was not written.
func TestRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &memory{}
		r := newRecorder(&wire{conn: m})
		var want []byte
		for range rapid.IntRange(1, 6).Draw(t, "writes") {
			p := make([]byte, rapid.SampledFrom([]int{1, muxHeader, 100, maxChunk, maxRecord, 3 * maxRecord}).Draw(t, "bytes"))
			for i := range p {
				p[i] = byte(i*7>>3 + len(want))
			}
			if len(p) == muxHeader && rapid.Bool().Draw(t, "data") {
				copy(p, []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5})
				p = append(p, "12345"...)
				write(t, r, p[:muxHeader])
				write(t, r, p[muxHeader:])
			} else {
				p[min(1, len(p)-1)] = 1 // no header of data
				write(t, r, p)
			}
			want = append(want, p...)
		}
		sent := m.Bytes()
		damage := rapid.IntRange(-1, len(sent)-1).Draw(t, "damaged byte, or -1")
		cut := damage >= 0 && rapid.Bool().Draw(t, "cut there")
		switch {
		case cut:
			m.Truncate(damage)
		case damage >= 0:
			sent[damage] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		got, err := io.ReadAll(r)
		switch {
		case !bytes.HasPrefix(want, got):
			t.Fatalf("%d bytes came out that are not the beginning of those %d written", len(got), len(want))
		case damage < 0 && (err != nil || len(got) != len(want)):
			t.Fatalf("%d bytes of %d, %v", len(got), len(want), err)
		case damage >= 0 && !cut && err == nil:
			t.Fatalf("byte %d was changed, and nobody noticed", damage)
		}
	})
}

func write(t *rapid.T, w io.Writer, p []byte) {
	if n, err := w.Write(p); n != len(p) || err != nil {
		t.Fatalf("writing %d bytes: %d, %v", len(p), n, err)
	}
}

// TestDamage: a changed byte ends the session, and its error says why.
func TestDamage(t *testing.T) {
	m := &memory{}
	m.Write([]byte{0, 1, 0, 0, 0, 0, 'x'})
	w := &wire{conn: m}
	r := newRecorder(w)
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, errDamaged) || w.cause() != errDamaged {
		t.Errorf("read: %v, the connection's cause: %v", err, w.cause())
	}
	for _, header := range [][]byte{{0, 0, 0, 0, 0, 0}, {0xFF, 0xFF, 0, 0, 0, 0}} {
		m := &memory{}
		m.Write(header)
		if _, err := newRecorder(&wire{conn: m}).Read(make([]byte, 1)); !errors.Is(err, errDamaged) {
			t.Errorf("length % X: %v", header[:2], err)
		}
	}
}

// FuzzRecords: whatever a peer sends, reading ends and takes no more memory than a record.
func FuzzRecords(f *testing.F) {
	m := &memory{}
	r := newRecorder(&wire{conn: m})
	r.Write([]byte("some content"))
	f.Add(bytes.Clone(m.Bytes()))
	f.Add([]byte{0xFF, 0xFF, 1, 2, 3, 4, 5})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, sent []byte) {
		m := &memory{}
		m.Write(sent)
		got, err := io.ReadAll(newRecorder(&wire{conn: m}))
		if len(got) > len(sent) || err == nil && len(sent) > 0 && len(got) == 0 {
			t.Errorf("% X: %d bytes, %v", sent, len(got), err)
		}
	})
}
