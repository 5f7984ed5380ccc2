//go:build linux

package execagent

// This file is the list of what an agent runs and ran.

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/execagent/execagent/transport/protocol"
)

// list returns executions in short, those that have not settled first, then the latest first,
// and how many more there are.
func (a *Agent) list() (all []protocol.Summary, omitted int) {
	a.mu.Lock()
	known := slices.Collect(maps.Values(a.executions))
	a.mu.Unlock()
	known = slices.DeleteFunc(known, func(e *execution) bool { return !e.hasStarted() })
	settled := make(map[*execution]int, len(known)) // it may change while they are sorted
	for _, e := range known {
		if e.progress().state == protocol.Settled {
			settled[e] = 1
		}
	}
	slices.SortFunc(known, func(x, y *execution) int {
		return cmp.Or(settled[x]-settled[y], y.begun.Compare(x.begun), cmp.Compare(x.spec.ID, y.spec.ID))
	})
	if len(known) > protocol.MaxListed {
		omitted = len(known) - protocol.MaxListed
		known = known[:protocol.MaxListed]
	}
	for _, e := range known {
		all = append(all, e.summary())
	}
	return all, omitted
}

// hasStarted reports whether the start has succeeded. It does not wait for it.
func (e *execution) hasStarted() bool {
	select {
	case <-e.started:
		return e.startErr == nil
	default:
		return false
	}
}

func (e *execution) summary() protocol.Summary {
	s := protocol.Summary{
		ID:          e.spec.ID,
		PID:         e.proc.pid,
		Command:     e.spec.ShortCommand(),
		Interactive: e.spec.Interactive,
		TotalBytes:  e.pumps.total(),
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.State = e.state
	s.Watchers = len(e.watchers)
	s.Seconds = time.Since(e.begun).Seconds()
	if e.state != protocol.Running {
		code := e.status.exitCode()
		s.ExitCode, s.Signal = &code, e.status.signalName()
	}
	if e.state == protocol.Settled {
		s.Seconds = e.result.Seconds
		s.TotalBytes = e.result.Truncation.TotalBytes
	}
	return s
}
