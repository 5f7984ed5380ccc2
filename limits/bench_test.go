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

func BenchmarkWindowWrite(b *testing.B) {
	for _, kind := range gen.Kinds() {
		for _, retain := range []Retain{RetainTail, RetainHead} {
			for _, read := range []int{4 << 10, 64 << 10} {
				b.Run(fmt.Sprintf("%v/%s/%dKiB", kind, retain, read>>10), func(b *testing.B) {
					l, _ := Limits{Retain: retain}.Resolve()
					w := NewWindow(l, Terminal{})
					p := corpus(b, kind)
					b.SetBytes(int64(read))
					b.ReportAllocs()
					at := 0
					for b.Loop() {
						if at+read > len(p) {
							at = 0
						}
						w.Write(p[at : at+read])
						at += read
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

// BenchmarkPlainBlocks is the scan for plain lines in its forms.
func BenchmarkPlainBlocks(b *testing.B) {
	text := bytes.Repeat([]byte("a line of a build's output, with\ttabs\n"), 2000)[:64<<10]
	for name, scan := range plainBlocksForms {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if n, _ := scan(text); n != len(text) {
					b.Fatal(n)
				}
			}
		})
	}
}
