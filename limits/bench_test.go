package limits

import (
	"bytes"
	"fmt"
	"testing"
)

// corpus is one read's worth of each kind of output, repeated.
func corpus(kind string) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 1<<20; i++ {
		switch kind {
		case "lines":
			fmt.Fprintf(&b, "%08d compiling module %d of the tree, with nothing odd in it, until the line is ninety-nine wide\n", i, i%977)
		case "oneline":
			fmt.Fprintf(&b, "%08d compiling module %d and no newline ", i, i%977)
		case "colour":
			fmt.Fprintf(&b, "\033[32m[%4d/4000]\033[0m \033[1mBuilding\033[0m CXX object src/file%d.cc.o\n", i%4000, i)
		case "bars":
			fmt.Fprintf(&b, "\r%3d%% [%-40s] %d MB", i%101, "####################"[:i%20], i)
		case "utf8":
			fmt.Fprintf(&b, "строка %d с текстом 日本語 и 😀\n", i)
		}
	}
	return b.Bytes()
}

func BenchmarkWindowWrite(b *testing.B) {
	for _, kind := range []string{"lines", "oneline", "colour", "bars", "utf8"} {
		for _, retain := range []Retain{RetainTail, RetainHead} {
			for _, read := range []int{4 << 10, 64 << 10} {
				b.Run(fmt.Sprintf("%s/%s/%dKiB", kind, retain, read>>10), func(b *testing.B) {
					l, _ := Limits{Retain: retain}.Resolve()
					w := NewWindow(l)
					p := corpus(kind)
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
			w := NewWindow(l)
			p := corpus("lines")
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
