//go:build linux

package execagent

import (
	"fmt"
	"testing"
	"time"

	"github.com/execagent/execagent/transport/protocol"
)

// TestListIsBounded: however many executions there were, a reply names no more than it may,
// and those that still run are among them.
func TestListIsBounded(t *testing.T) {
	a := newAgent(t)
	e := begin(t, a, protocol.Spec{ID: "sleeper", Command: "sleep 600"})
	const more = 10
	a.mu.Lock()
	for i := range protocol.MaxListed + more - 1 {
		id := fmt.Sprintf("old-%d", i)
		old := newExecution(a, protocol.Spec{ID: id, Command: "true"}, nil)
		old.proc, old.begun, old.state = e.proc, time.Now(), protocol.Settled
		close(old.started)
		a.executions[id] = old
	}
	a.executions["unborn"] = newExecution(a, protocol.Spec{ID: "unborn", Command: "true"}, nil)
	a.mu.Unlock()

	all, omitted := a.list()
	if len(all) != protocol.MaxListed || omitted != more || all[0].ID != "sleeper" {
		t.Errorf("%d listed, %d omitted, first %+v; want %d, %d, the sleeper", len(all), omitted, all[0], protocol.MaxListed, more)
	}
	a.mu.Lock()
	clear(a.executions)
	a.executions["sleeper"] = e
	a.mu.Unlock()
}
