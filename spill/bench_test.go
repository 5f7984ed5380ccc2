// Benchmarks: what a byte of output costs on its way to the page cache.

package spill

import (
	"fmt"
	"os"
	"testing"
)

func BenchmarkWrite(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			f := createFile(b, openStore(b), "bench", FileOptions{})
			p := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for written := 0; b.Loop(); written += size {
				if written >= 256<<20 { // reuse the pages: the machine's memory is not the subject
					written = 0
					mustDo(b, f.Flush())
					rewind(b, f)
				}
				if _, err := f.Write(p); err != nil {
					b.Fatal(err)
				}
			}
			mustDo(b, f.Close())
		})
	}
}

func rewind(b *testing.B, f *File) {
	b.Helper()
	if _, err := f.out.(*os.File).Seek(0, 0); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRecord is what it costs that the next agent knows of a command: its manifest at the
// start and at the end.
func BenchmarkRecord(b *testing.B) {
	s := openStore(b)
	n := 0
	for b.Loop() {
		n++
		r, err := s.Begin(fmt.Sprint(n), []byte(`{"command":"true"}`), nothing)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Settle([]byte(`{"command":"true","result":{}}`)); err != nil {
			b.Fatal(err)
		}
	}
}
