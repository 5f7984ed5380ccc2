//go:build linux

package execagent

// This file is step 2, raw bytes to what is kept of them: the bounded window and the complete
// spill.

import (
	"errors"
	"sync"

	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/spill"
	"github.com/execagent/execagent/transport/protocol"
)

// output takes everything a command writes. The pump is its only writer.
type output struct {
	changed func(limits.Change) // told after the change can be seen
	spill   keeper

	mu        sync.Mutex // guards the rest; held for copying, never across I/O
	window    *limits.Window
	sealed    bool // the window is final; what still comes goes to the spill alone
	spillPath string
	spillErr  *protocol.SpillError
}

func newOutput(spec *protocol.Spec, store *lazyStore, changed func(limits.Change)) *output {
	o := &output{changed: changed, window: limits.NewWindow(spec.Limits)}
	o.spill = keeper{
		off:      spec.NoSpill,
		most:     spec.Limits.MaxBytes,
		create:   func() (*spill.File, error) { return store.create(spec.ID, spill.FileOptions{OnError: o.spillFailed}) },
		created:  o.spillCreated,
		couldNot: o.spillFailed,
	}
	return o
}

// write takes the next bytes of the command.
func (o *output) write(p []byte) {
	change := limits.None
	o.mu.Lock()
	if !o.sealed {
		change = o.window.Write(p)
	}
	needed := o.sealed || o.window.Drops()
	o.mu.Unlock()
	o.spill.write(p, needed)
	o.changed(change)
}

// seal makes the window final. With holders, processes that still hold the output open, the
// spill is created now, for what they will write.
func (o *output) seal(holders bool) {
	o.spill.settle(holders)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window.Finish()
	o.sealed = true
}

// describe fills in what the result says of the output.
func (o *output) describe(r *protocol.Result) {
	var c limits.Cursor
	var d limits.Delta
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window.Delta(&c, &d)
	r.Truncation = d.Truncation
	r.LastLineBytes = d.LastLineBytes
	r.SpillPath = o.spillPath
	r.SpillError = o.spillErr
}

// close gives up the spill file, complete, after the last write.
func (o *output) close() { o.spill.close() }

func (o *output) spillCreated(path string) {
	o.mu.Lock()
	o.spillPath = path
	o.mu.Unlock()
	o.changed(limits.Urgent)
}

func (o *output) spillFailed(err error) {
	failure := &protocol.SpillError{Message: err.Error()}
	if we := (*spill.WriteError)(nil); errors.As(err, &we) {
		failure.SafeBytes = we.Safe
	}
	o.mu.Lock()
	if o.spillErr == nil {
		o.spillErr = failure
	}
	o.mu.Unlock()
	o.changed(limits.Urgent)
}

// keeper holds the raw bytes: in memory while the view shows all of them, then in a file.
type keeper struct {
	off      bool // nothing is kept, or no longer
	most     int  // bytes kept in memory
	create   func() (*spill.File, error)
	created  func(path string)
	couldNot func(error)

	mu   sync.Mutex // guards the rest; held across writes to the file, so never taken by watchers
	raw  []byte     // everything so far, while there is no file
	file *spill.File
}

// write keeps p. needed says that the view no longer shows everything.
func (k *keeper) write(p []byte, needed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil && !k.off {
		if !needed && len(k.raw)+len(p) <= k.most {
			k.raw = append(k.raw, p...)
			return
		}
		k.open()
	}
	if k.file != nil {
		_, _ = k.file.Write(p) // its OnError reports
	}
}

// open creates the file and moves what is in memory there.
func (k *keeper) open() {
	file, err := k.create()
	if err != nil {
		k.off = true
		k.couldNot(err)
	} else {
		k.file = file
		k.created(file.Path())
		_, _ = file.Write(k.raw)
	}
	k.raw = nil
}

// settle brings everything so far onto the disk, into a new file if more is to come.
func (k *keeper) settle(more bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if more && k.file == nil && !k.off {
		k.open()
	}
	if k.file != nil {
		_ = k.file.Flush()
	}
	if !more {
		k.raw = nil
	}
}

func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file != nil {
		_ = k.file.Close()
	}
	k.file, k.raw, k.off = nil, nil, true
}
