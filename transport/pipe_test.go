// This file holds the tests of connections within the process.

package transport

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// TestPipeKeepsBytes sends any bytes in any pieces, the reader taking any pieces,
// and compares with the bytes.
func TestPipeKeepsBytes(t *testing.T) {
	all := noise(3 * pipeBuffer)
	rapid.Check(t, func(t *rapid.T) {
		a, b := Pipe()
		want := all[:rapid.IntRange(0, len(all)).Draw(t, "bytes")]
		writeStep := rapid.IntRange(1, 2*pipeBuffer).Draw(t, "write step")
		readStep := rapid.IntRange(1, 2*pipeBuffer).Draw(t, "read step")
		wrote := make(chan error, 1)
		go func() {
			rest := want
			for len(rest) > 0 {
				n, err := a.Write(rest[:min(writeStep, len(rest))])
				if err != nil {
					wrote <- err
					return
				}
				rest = rest[n:]
			}
			wrote <- a.Close()
		}()
		var got []byte
		buf := make([]byte, readStep)
		for {
			n, err := b.Read(buf)
			got = append(got, buf[:n]...)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := <-wrote; err != nil || !bytes.Equal(got, want) {
			t.Fatalf("read %d bytes of %d, not the same; write: %v", len(got), len(want), err)
		}
		b.Close()
	})
}

func TestPipeCloseReleases(t *testing.T) {
	for name, closeOne := range map[string]func(a, b io.Closer) error{
		"own end":     func(a, _ io.Closer) error { return a.Close() },
		"the other's": func(_, b io.Closer) error { return b.Close() },
	} {
		a, b := Pipe()
		read, wrote := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := a.Read(make([]byte, 1))
			read <- err
		}()
		go func() {
			_, err := a.Write(make([]byte, pipeBuffer+1))
			wrote <- err
		}()
		if err := closeOne(a, b); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
		if err := <-read; err == nil {
			t.Errorf("%s: Read was not released by an error", name)
		}
		if err := <-wrote; err == nil {
			t.Errorf("%s: Write was not released by an error", name)
		}
		a.Close()
		b.Close()
		if err := errors.Join(a.Close(), b.Close()); err != nil {
			t.Errorf("%s: closed again: %v", name, err)
		}
	}
}
