//go:build linux

package execagent

// This file is what an execution leaves in the spill directory while it goes on: its file, and
// what the next agent has to know if this one is killed.

import (
	"sync"
	"sync/atomic"

	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/spill"
	"github.com/execagent/execagent/transport/protocol"
)

// memory is an execution's place in the spill store. Its methods may be called concurrently.
type memory struct {
	e      *execution
	record atomic.Pointer[spill.Record] // nil while there is none

	mu sync.Mutex // one at a time makes or ends the record; held across I/O
}

// detail is what a manifest says beside the store's own numbers.
type detail struct {
	Digest      string         `json:"digest"`
	Command     string         `json:"command"`
	Interactive bool           `json:"interactive,omitempty"`
	Stdin       protocol.Stdin `json:"stdin"`
	Limits      limits.Limits  `json:"limits"`
	// Result is there once the execution has settled, without the path of its spill, which
	// the store knows.
	Result *protocol.Result `json:"result,omitempty"`
}

// encode fits the detail into a manifest: what is long in it is what processes and errors are
// called.
func (d *detail) encode() []byte {
	b := protocol.Encode(d)
	for r := d.Result; len(b) > spill.MaxDetail && r != nil && len(r.Leftovers) > 0; b = protocol.Encode(d) {
		r.Leftovers = r.Leftovers[:len(r.Leftovers)/2]
	}
	if r := d.Result; len(b) > spill.MaxDetail && r != nil && r.SpillError != nil {
		shortened := *r.SpillError
		shortened.Message = protocol.Shorten(shortened.Message)
		r.SpillError = &shortened
		b = protocol.Encode(d)
	}
	return b
}

// begin enters the execution into the store, before its command starts: a client that was told
// of the start finds it again whenever this agent is killed. That there is no store is no
// reason not to run it.
func (m *memory) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		m.e.agent.log.Debug("an execution is not remembered", "id", m.e.spec.ID, "error", err)
	}
}

// enter makes the record if there is none. Callers hold mu.
func (m *memory) enter() error {
	if m.record.Load() != nil {
		return nil
	}
	store, err := m.e.agent.spills.open()
	if err != nil {
		return err
	}
	r, err := store.Begin(m.e.spec.ID, m.e.detail(nil).encode(), m.e.totals)
	if err == nil {
		m.record.Store(r)
	}
	return err
}

// create makes the spill file.
func (m *memory) create(opts spill.FileOptions) (*spill.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return nil, err
	}
	return m.record.Load().Create(opts)
}

// changed says that there is more output.
func (m *memory) changed() {
	if r := m.record.Load(); r != nil {
		r.Changed()
	}
}

// settle writes the result down before anybody is told of it.
func (m *memory) settle(result protocol.Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.record.Load()
	if r == nil {
		return
	}
	result.SpillPath = ""
	if err := r.Settle(m.e.detail(&result).encode()); err != nil {
		m.e.agent.log.Warn("a result is not remembered", "id", m.e.spec.ID, "error", err)
	}
}

// discard is for a command that could not be started.
func (m *memory) discard() {
	if r := m.record.Load(); r != nil {
		r.Discard()
	}
}

func (e *execution) detail(r *protocol.Result) *detail {
	return &detail{
		Digest:      e.digest(),
		Command:     e.spec.ShortCommand(),
		Interactive: e.spec.Interactive,
		Stdin:       e.spec.Stdin,
		Limits:      e.spec.Limits,
		Result:      r,
	}
}

// totals counts what the command has written.
func (e *execution) totals() (bytes, lines int64) {
	if !e.hasStarted() {
		return 0, 0
	}
	return e.out.totals()
}
