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

// output takes everything a command writes. Its pumps are the only writers.
type output struct {
	changed func(limits.Change) // told after the change can be seen
	counted func()              // told that the totals have changed
	lost    func()              // told that the spill is incomplete
	sink    streamSink          // set before the pumps begin; nil without a lossless stream
	done    chan struct{}       // closed when all pumps have left and the spill is closed

	// writing keeps window and spill in the same order when there are two pumps. Only
	// they take it, and it is not held while the sink blocks.
	writing sync.Mutex
	spill   keeper

	mu        sync.Mutex // guards the rest; held for copying, never across I/O
	pumps     int        // that have not left
	written   int64      // bytes
	window    *limits.Window
	sealed    bool // the window is final; what still comes goes to the spill alone
	spillPath string
	spillErr  *protocol.SpillError
	taps      map[rawTap]struct{}
	// known is what to say of a view whose text is known no more; nil for all others.
	known *limits.Truncation
}

// streamSink is the one lossless consumer an execution may have.
type streamSink interface {
	// write takes the next bytes. It blocks while its client does not read, which holds
	// the command back, and returns at once when the client has left.
	write(p []byte, stderr bool)
	// eof says that one of the outputs has come to its end; nothing follows of it.
	eof(stderr bool)
}

// rawTap is a consumer of the bytes as they come.
type rawTap interface {
	// raw takes the next bytes, copying what it keeps. It never blocks.
	raw(p []byte)
}

func newOutput(e *execution) *output {
	spec := &e.spec
	o := &output{
		changed: e.changed,
		counted: e.memory.changed,
		lost:    func() {},
		done:    make(chan struct{}),
		window:  limits.NewWindow(spec.Limits, terminalOf(spec)),
		taps:    make(map[rawTap]struct{}),
		pumps:   1,
	}
	if spec.SplitStderr {
		o.pumps = 2
	}
	if spec.SpillStrict {
		o.lost = e.spillLost
	}
	o.spill = keeper{
		off:      spec.NoSpill,
		most:     spec.Limits.MaxBytes,
		create:   func() (*spill.File, error) { return e.memory.create(spill.FileOptions{OnError: o.spillFailed}) },
		created:  o.spillCreated,
		couldNot: o.spillFailed,
	}
	return o
}

// terminalOf is the terminal that the command's output is for. The lines of a pipe do not wrap.
func terminalOf(spec *protocol.Spec) limits.Terminal {
	t := limits.Terminal{Columns: spec.Columns, Rows: spec.Rows, Raw: spec.RawText}
	if spec.Pipe {
		t.Columns = 0
	}
	return t
}

// resize says that the terminal has another size from now on.
func (o *output) resize(columns, rows int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.sealed {
		o.window.Resize(columns, rows)
	}
}

// write takes the next bytes of the command.
func (o *output) write(p []byte, stderr bool) {
	o.writing.Lock()
	change := limits.None
	o.mu.Lock()
	if !o.sealed {
		change = o.window.Write(p)
	}
	needed := o.sealed || o.window.Drops()
	for t := range o.taps {
		t.raw(p)
	}
	o.written += int64(len(p))
	o.mu.Unlock()
	o.spill.write(p, needed)
	o.writing.Unlock()
	o.counted()
	o.changed(change)
	if o.sink != nil {
		o.sink.write(p, stderr)
	}
}

// tap gives t the bytes from now on, until untap, and returns how many there were before.
func (o *output) tap(t rawTap) (position int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.taps[t] = struct{}{}
	return o.written
}

func (o *output) untap(t rawTap) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.taps, t)
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

// totals counts what was written until the view became final.
func (o *output) totals() (bytes, lines int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.window.Totals()
	return t.Bytes, t.Lines()
}

// leave says that a pump has written its last. After the last of them the spill is closed.
func (o *output) leave(stderr bool) {
	if o.sink != nil {
		o.sink.eof(stderr)
	}
	o.mu.Lock()
	o.pumps--
	last := o.pumps == 0
	o.mu.Unlock()
	if last {
		o.spill.close()
		close(o.done)
	}
}

func (o *output) spillCreated(path string) {
	o.mu.Lock()
	o.spillPath = path
	o.mu.Unlock()
	o.changed(limits.Urgent)
}

func (o *output) spillFailed(err error) {
	failure := &protocol.SpillError{Cause: string(spill.CauseOf(err)), Message: err.Error()}
	if we := (*spill.WriteError)(nil); errors.As(err, &we) {
		failure.SafeBytes = we.Safe
	}
	o.mu.Lock()
	if o.spillErr == nil {
		o.spillErr = failure
	}
	if errors.Is(err, spill.ErrRemoved) {
		o.spillPath = ""
	}
	o.mu.Unlock()
	o.changed(limits.Urgent)
	o.lost()
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
