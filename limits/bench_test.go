package limits

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/execagent/execagent/test/bench/gen"
)

// corpus is the beginning of a benchmark input of this kind.
func corpus(b *testing.B, kind gen.Kind) []byte {
	r, err := gen.NewReader(kind, 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	p, err := io.ReadAll(r)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkWindowWrite takes the output of a command as it comes through a PTY and a pipe.
func BenchmarkWindowWrite(b *testing.B) {
	for _, kind := range gen.Kinds() {
		for _, retain := range []Retain{RetainTail, RetainHead} {
			for _, c := range []struct {
				mode     string
				read     int // bytes
				terminal Terminal
			}{
				{"PTY", 2 << 10, Terminal{Columns: 200}},
				{"pipe", 128 << 10, Terminal{}},
			} {
				b.Run(fmt.Sprintf("%v/%s/%s", kind, retain, c.mode), func(b *testing.B) {
					l, _ := Limits{Retain: retain}.Resolve()
					w := NewWindow(l, c.terminal)
					p := corpus(b, kind)
					b.SetBytes(int64(c.read))
					b.ReportAllocs()
					at := 0
					for b.Loop() {
						if at+c.read > len(p) {
							at = 0
						}
						w.Write(p[at : at+c.read])
						at += c.read
					}
				})
			}
		}
	}
}

// BenchmarkDelta is one flush of a full 50 KiB rolling window after so much input.
func BenchmarkDelta(b *testing.B) {
	for _, in := range []int{100, 4096, 25000} {
		b.Run(fmt.Sprintf("%dB", in), func(b *testing.B) {
			l, _ := Limits{}.Resolve()
			w := NewWindow(l, Terminal{})
			p := corpus(b, gen.Lines)
			w.Write(p)
			var c Cursor
			var d Delta
			w.Delta(&c, &d)
			b.ReportAllocs()
			at := 0
			for b.Loop() {
				if at+in > len(p) {
					at = 0
				}
				w.Write(p[at : at+in])
				at += in
				w.Delta(&c, &d)
			}
		})
	}
}

// BenchmarkASCIIRun is the scan for plain text in its forms.
func BenchmarkASCIIRun(b *testing.B) {
	text := bytes.Repeat([]byte("a line of a build's output, with\ttabs\n"), 2000)[:64<<10]
	for name, run := range asciiRunForms {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if n, _ := run(text); n != len(text) {
					b.Fatal(n)
				}
			}
		})
	}
}
