//go:build linux

package execagent

import (
	"bytes"
	"testing"

	"github.com/execagent/execagent/transport/protocol"
	"pgregory.net/rapid"
)

// TestRaw: whatever a client takes and acknowledges, its chunks and gaps laid end to end are
// the output, and it is never further behind than it may be.
func TestRaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRaw()
		var written []byte
		at, unacked := 0, 0
		room := make([]byte, protocol.MaxOutputFrame)
		take := func() bool {
			missed, n := r.take(room)
			at += int(missed)
			if at+n > len(written) || !bytes.Equal(written[at:at+n], room[:n]) {
				t.Fatalf("the %d bytes at %d of %d are not those written", n, at, len(written))
			}
			at += n
			unacked += n
			if unacked > protocol.RawWindow {
				t.Fatalf("%d bytes are on their way", unacked)
			}
			return missed > 0 || n > 0
		}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				p := make([]byte, rapid.SampledFrom([]int{1, 80, 4096, readSize}).Draw(t, "bytes"))
				for i := range p {
					p[i] = byte((len(written) + i) * 7 >> 3)
				}
				written = append(written, p...)
				r.raw(p)
			case 2:
				take()
			case 3:
				n := rapid.IntRange(-1, 2*protocol.RawWindow).Draw(t, "acked")
				r.acked(n)
				unacked -= max(0, min(n, unacked))
			}
			if behind := r.unacked + len(r.buf); behind > protocol.MaxRawBehind || r.unacked != unacked {
				t.Fatalf("%d bytes behind, %d of them on their way, want %d", behind, r.unacked, unacked)
			}
		}
		r.leave()
		r.raw([]byte("too late"))
		for range 1 + protocol.MaxRawBehind/protocol.MaxOutputFrame*2 {
			r.acked(unacked)
			unacked = 0
			take()
		}
		if !r.empty() || at != len(written) {
			t.Fatalf("ends at %d of %d", at, len(written))
		}
	})
}
