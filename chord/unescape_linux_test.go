package chord

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// beforeAbyss returns n bytes, after which no memory can be touched.
func beforeAbyss(t *testing.T, n int) []byte {
	t.Helper()
	page := os.Getpagesize()
	size := (n + page - 1) / page * page
	memory, err := unix.Mmap(-1, 0, size+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(memory) })
	if err := unix.Mprotect(memory[size:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return memory[size-n : size : size]
}

// TestUnescapeStays reads and writes to the last byte and no further.
func TestUnescapeStays(t *testing.T) {
	const most = 400
	from, to := beforeAbyss(t, most), beforeAbyss(t, most)
	for _, line := range []string{`a line of some output\n`, `another\tone, \"quoted\" and \\ more\r\n`} {
		text := strings.Repeat(line, most/len(line)+1)[:most]
		for n := range most {
			raw := from[most-n:]
			copy(raw, text)
			for room := range n + 1 {
				dst := to[most-room:]
				out, in := unescape(dst, raw)
				if want, _ := unescapeBytes(raw[:in]); !bytes.Equal(dst[:out], want) {
					t.Fatalf("%q gave %q, want %q", raw[:in], dst[:out], want)
				}
			}
		}
	}
}
