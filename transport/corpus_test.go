// This file holds the text that tests and benchmarks send.

package transport

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// logText returns n bytes of text such as a build and its tests print. The same
// n gives the same text.
func logText(n int) []byte {
	r := rand.New(rand.NewPCG(7, 11))
	dirs := []string{"limits", "spill", "client/lane", "transport/protocol", "cmd/execagent", "internal/store"}
	words := []string{"connection", "retry", "window", "flush", "accepted", "deadline", "evicted", "stream", "checksum", "segment"}
	var b strings.Builder
	for ms := 0; b.Len() < n; ms += r.IntN(700) {
		dir, word := dirs[r.IntN(len(dirs))], words[r.IntN(len(words))]
		switch r.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "cc -O2 -Wall -Iinclude -c src/%s/%s_%d.c -o build/%s_%d.o\n", dir, word, r.IntN(90), word, r.IntN(90))
		case 1:
			fmt.Fprintf(&b, "--- PASS: Test%c%s (%d.%02ds)\n", word[0]-32, word[1:], r.IntN(3), r.IntN(100))
		case 2:
			fmt.Fprintf(&b, "ok  \tgithub.com/example/project/%s\t%d.%03ds\n", dir, r.IntN(9), r.IntN(1000))
		case 3:
			fmt.Fprintf(&b, "src/%s/%s.c:%d:%d: warning: unused variable '%s' [-Wunused-variable]\n", dir, word, r.IntN(900), r.IntN(80), words[r.IntN(len(words))])
		default:
			fmt.Fprintf(&b, "2025-03-14T09:%02d:%02d.%03dZ INFO %s: %s id=%08x bytes=%d\n", ms/60000%60, ms/1000%60, ms%1000, dir, word, r.Uint32(), r.IntN(1<<20))
		}
	}
	return []byte(b.String()[:n])
}
