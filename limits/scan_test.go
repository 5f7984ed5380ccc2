package limits

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// plainNaively is plainBlocks, byte by byte.
func plainNaively(p []byte) (n, newlines int) {
	for len(p)-n >= blockSize {
		for _, b := range p[n : n+blockSize] {
			if !isPlainASCII(b) {
				return n, newlines
			}
		}
		newlines += bytes.Count(p[n:n+blockSize], newline)
		n += blockSize
	}
	return n, newlines
}

// plainBlocksForms are those that this processor can run.
var plainBlocksForms = map[string]func([]byte) (n, newlines int){
	"portable": plainBlocksPortable,
	"chosen":   plainBlocks,
}

func checkPlainBlocks(t *testing.T, p []byte) {
	t.Helper()
	wantN, wantNewlines := plainNaively(p)
	for form, scan := range plainBlocksForms {
		if n, newlines := scan(p); n != wantN || newlines != wantNewlines {
			t.Fatalf("%s: plainBlocks(%q) = %d, %d, want %d, %d", form, p, n, newlines, wantN, wantNewlines)
		}
	}
}

// TestPlainBlocks puts every byte at every place of a block, at every alignment, and then whatever
// comes.
func TestPlainBlocks(t *testing.T) {
	for b := range 256 {
		for at := range 2 * blockSize {
			text := bytes.Repeat([]byte("a\n\t~"), 3*blockSize/4+1)
			p := text[at%16:][:2*blockSize+at%3]
			p[at] = byte(b)
			checkPlainBlocks(t, p)
		}
	}
	checkPlainBlocks(t, nil)
	checkPlainBlocks(t, bytes.Repeat([]byte("\n"), 100*blockSize)) // more than a byte counts
	r := rand.New(rand.NewPCG(1, 2))
	usual := []byte("\n\n\t ~aZ09")
	for range 20_000 {
		p := make([]byte, r.IntN(6*blockSize))
		for i := range p {
			p[i] = usual[r.IntN(len(usual))]
		}
		for range r.IntN(3) {
			if len(p) > 0 {
				p[r.IntN(len(p))] = byte(r.IntN(256))
			}
		}
		checkPlainBlocks(t, p)
	}
}

// TestASCIIRun has runs long enough for blocks, which one byte ends.
func TestASCIIRun(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		p := bytes.Repeat([]byte("seven\t7\n"), r.IntN(400))
		for range r.IntN(3) {
			if len(p) > 0 {
				p[r.IntN(len(p))] = byte(r.IntN(256))
			}
		}
		want := 0
		for want < len(p) && isPlainASCII(p[want]) {
			want++
		}
		if n, newlines := asciiRun(p); n != want || newlines != bytes.Count(p[:want], newline) {
			t.Fatalf("asciiRun(%q) = %d, %d, want %d, %d", p, n, newlines, want, bytes.Count(p[:want], newline))
		}
	}
}
