// The inputs: made once, checked and warmed before each use.

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/execagent/execagent/test/bench/gen"
)

// An input is a file that is in the page cache and known to be right.
type input struct {
	kind  gen.Kind
	path  string
	bytes int64
	lines int64 // newlines
	open  bool  // bytes follow the last newline
}

// command returns the shell command whose output is the input.
func (in input) command() string { return "cat '" + in.path + "'" }

// prepareInput makes the file unless it is there, reads it through, and compares it with what
// the generator makes today.
func prepareInput(dir string, kind gen.Kind, n size) (input, error) {
	in := input{kind: kind, path: filepath.Join(dir, fmt.Sprintf("%s-%d.txt", kind, n)), bytes: int64(n)}
	err := in.check()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errDiffers) {
		if err := in.write(); err != nil {
			return in, err
		}
		err = in.check()
	}
	return in, err
}

func (in *input) write() error {
	reader, err := gen.NewReader(in.kind, in.bytes)
	if err != nil {
		return err
	}
	file, err := os.Create(in.path)
	if err != nil {
		return err
	}
	_, err = reader.WriteTo(file)
	return errors.Join(err, file.Close())
}

// check compares the file with the generator and counts its lines.
func (in *input) check() error {
	reader, err := gen.NewReader(in.kind, in.bytes)
	if err != nil {
		return err
	}
	var count lineCounter
	err = compareFile(io.TeeReader(reader, &count), in.path)
	in.lines, in.open = count.newlines, count.open
	return err
}

// lineCounter looks for newlines in what is written to it.
type lineCounter struct {
	newlines int64
	open     bool // bytes follow the last newline
}

func (c *lineCounter) Write(p []byte) (int, error) {
	c.newlines += int64(bytes.Count(p, []byte{'\n'}))
	if len(p) > 0 {
		c.open = p[len(p)-1] != '\n'
	}
	return len(p), nil
}

// errDiffers says that a file is not what it should be.
var errDiffers = errors.New("content differs")

// sameFiles returns an error wrapping errDiffers unless the files hold the same bytes.
func sameFiles(want, got string) error {
	file, err := os.Open(want)
	if err != nil {
		return err
	}
	defer file.Close()
	return compareFile(file, got)
}

// compareFile returns an error wrapping errDiffers unless the file got holds what want yields.
func compareFile(want io.Reader, got string) error {
	file, err := os.Open(got)
	if err != nil {
		return err
	}
	defer file.Close()
	const piece = 1 << 20
	wanted, found := bufio.NewReaderSize(want, piece), make([]byte, piece)
	expected := make([]byte, piece)
	for offset := int64(0); ; {
		n, err := io.ReadFull(wanted, expected)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return err
		}
		m, err := io.ReadFull(file, found)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return err
		}
		if !bytes.Equal(expected[:n], found[:m]) {
			return fmt.Errorf("%s, within the MiB after byte %d: %w", filepath.Base(got), offset, errDiffers)
		}
		if n < piece {
			return nil
		}
		offset += int64(n)
	}
}
