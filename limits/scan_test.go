package limits

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// asciiRunForms are those that this processor can run.
var asciiRunForms = map[string]func([]byte) (n, newlines int){
	"portable": asciiRunPortable,
	"chosen":   asciiRun,
}

// plainMaskForms are those that this processor can run.
var plainMaskForms = map[string]func([]byte) (plain, newlines uint64){
	"portable": plainMaskPortable,
	"chosen":   plainMask,
}

func checkPlainMask(t *testing.T, p []byte) {
	t.Helper()
	var want, wantNewlines uint64
	for i, b := range p[:blockSize] {
		if isPlainASCII(b) {
			want |= 1 << i
		}
		if b == '\n' {
			wantNewlines |= 1 << i
		}
	}
	for form, mask := range plainMaskForms {
		if plain, newlines := mask(p); plain != want || newlines != wantNewlines {
			t.Fatalf("%s: plainMask(%q) = %b, %b, want %b, %b", form, p, plain, newlines, want, wantNewlines)
		}
	}
}

func checkASCIIRun(t *testing.T, p []byte) {
	t.Helper()
	want := 0
	for want < len(p) && isPlainASCII(p[want]) {
		want++
	}
	wantNewlines := bytes.Count(p[:want], newline)
	for form, run := range asciiRunForms {
		if n, newlines := run(p); n != want || newlines != wantNewlines {
			t.Fatalf("%s: asciiRun(%q) = %d, %d, want %d, %d", form, p, n, newlines, want, wantNewlines)
		}
	}
}

// TestASCIIRun puts every byte at every place of two blocks, at every alignment, and then whatever
// comes.
func TestASCIIRun(t *testing.T) {
	for b := range 256 {
		for at := range 2 * blockSize {
			text := bytes.Repeat([]byte("a\n\t~"), 3*blockSize/4+1)
			p := text[at%16:][:2*blockSize+at%3]
			p[at] = byte(b)
			checkASCIIRun(t, p)
			checkPlainMask(t, p)
			p[(at+b)%len(p)] = byte(at)
			checkPlainMask(t, p)
		}
	}
	checkASCIIRun(t, nil)
	checkASCIIRun(t, bytes.Repeat([]byte("\n"), 100*blockSize)) // more than a byte counts
	r := rand.New(rand.NewPCG(1, 2))
	for range 40_000 {
		p := bytes.Repeat([]byte("\n\t ~aZ09seven\t7\n")[r.IntN(8):], r.IntN(100))
		for range r.IntN(3) {
			if len(p) > 0 {
				p[r.IntN(len(p))] = byte(r.IntN(256))
			}
		}
		checkASCIIRun(t, p)
	}
}
