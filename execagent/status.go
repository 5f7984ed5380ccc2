//go:build linux

package execagent

// This file is what an agent says of itself.

import (
	"os"
	"time"

	"github.com/execagent/execagent/transport/protocol"
)

// Status returns how the agent is doing.
func (a *Agent) Status() protocol.Status {
	s := protocol.Status{
		Software:   a.opts.Software,
		Instance:   a.instance,
		PID:        os.Getpid(),
		Seconds:    time.Since(a.begun).Seconds(),
		KillMethod: a.KillMethod(),
		Clients:    int(a.clients.Load()),
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s.Closing = a.closing
	s.OutputBytes = a.forgotten
	for _, e := range a.executions {
		if !e.hasStarted() {
			continue
		}
		s.OutputBytes += e.pumps.total()
		settled, watchers := e.followed()
		s.Watchers += watchers
		if settled {
			s.Settled++
		} else {
			s.Running++
		}
	}
	return s
}

// followed reports whether the execution has settled, and how many watchers it has.
func (e *execution) followed() (settled bool, watchers int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state == protocol.Settled, len(e.watchers)
}
