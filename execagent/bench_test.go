//go:build linux

package execagent

import (
	"fmt"
	"testing"

	"github.com/execagent/execagent/transport/protocol"
)

// BenchmarkTrue is the least command, start to settled, without a client.
func BenchmarkTrue(b *testing.B) {
	a := newAgent(b)
	n := 0
	for b.Loop() {
		n++
		e, _, err := a.start(protocol.Spec{ID: fmt.Sprintf("true-%d", n), Command: "true"})
		if err != nil {
			b.Fatal(err)
		}
		<-e.settled
	}
}
