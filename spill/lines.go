// A range of lines out of a file, as sed -n FROM,TOp prints it.

package spill

import (
	"bytes"
	"io"
)

// Lines returns a reader of the lines from to to of r, counted from 1 and both included; to 0
// means the last. Lines end at '\n' and are of any length: nothing is gathered.
func Lines(r io.Reader, from, to int64) io.Reader {
	l := &lines{r: r, skip: max(0, from-1), left: -1}
	if to > 0 {
		l.left = max(0, to-l.skip)
	}
	return l
}

type lines struct {
	r    io.Reader
	skip int64 // newlines to pass over before the first line
	left int64 // lines still to come; negative for all
}

func (l *lines) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	for {
		n, err := l.r.Read(p)
		n = l.cut(p, l.pass(p, n))
		if n > 0 || err != nil || len(p) == 0 || l.left == 0 {
			if n > 0 && err == io.EOF {
				err = nil // it comes again
			}
			return n, err
		}
	}
}

// pass drops what is before the first line and moves the rest to the beginning of p.
func (l *lines) pass(p []byte, n int) int {
	if l.skip == 0 {
		return n
	}
	if count := int64(bytes.Count(p[:n], newline)); count < l.skip {
		l.skip -= count
		return 0
	}
	at := 0
	for ; l.skip > 0; l.skip-- {
		at += bytes.IndexByte(p[at:n], '\n') + 1
	}
	return copy(p, p[at:n])
}

// cut drops what is behind the last line.
func (l *lines) cut(p []byte, n int) int {
	if l.left < 0 {
		return n
	}
	if count := int64(bytes.Count(p[:n], newline)); count < l.left {
		l.left -= count
		return n
	}
	at := 0
	for ; l.left > 0; l.left-- {
		at += bytes.IndexByte(p[at:n], '\n') + 1
	}
	return at
}

var newline = []byte{'\n'}
