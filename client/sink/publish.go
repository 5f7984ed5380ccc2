package sink

// This file is when an output is flushed, and where the batches go: first to the journal, then to whoever
// listens.

import (
	"context"
	"errors"
	"sync"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/limits"
)

// rebaseEvery is how many batches the journal gets between two base batches, which bounds what
// recovery reads. The consumers of events need no base but the first.
const rebaseEvery = 64

// publication takes an output's changes to the journal and to the consumers.
type publication struct {
	output  *Output
	pace    *limits.Publisher
	emit    func([]chord.Op)
	journal journal.Journal // nil for none
	key     journal.Key

	// mu is held from a flush until its batch is written and emitted, so that both get every
	// batch in the order of the states.
	mu        sync.Mutex
	encoder   chord.Encoder
	wire      []byte
	begun     bool // the journal knows the call
	needBase  bool // the journal lacks something, so that it can go on with a base only
	sinceBase int  // batches in the journal since the last base
	held      bool // by a Once: the journal gets nothing
}

func newPublication(o *Output, j journal.Journal, key journal.Key, emit func([]chord.Op)) *publication {
	p := &publication{output: o, pace: limits.NewPublisher(), emit: emit, journal: j, key: key, needBase: true}
	o.changed = p.pace.Changed
	return p
}

// run publishes as the pace allows, until ctx ends.
func (p *publication) run(ctx context.Context) {
	for p.pace.Next(ctx) == nil {
		p.flush()
	}
}

// begin notes the call in the journal, which from then on gets its output.
func (p *publication) begin(h journal.Header) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.journal == nil || p.begun {
		return nil
	}
	if err := p.journal.Begin(p.key, h); err != nil {
		return err
	}
	p.begun = true
	return nil
}

// flush publishes what has changed. A journal that fails does not hold up the consumers: what
// it lacks is in the base that it gets with the next flush, and the call fails if not even the
// last one can be written.
func (p *publication) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	durable := p.begun && !p.held
	switch {
	case !p.output.pending() && !(durable && p.needBase):
	case durable:
		_ = p.through(func(take taker) error { return p.journal.Append(p.key, take) })
	default:
		_ = p.through(nil)
	}
}

// ErrWithinOnce is returned by SetMemo and Once while the call is within a Once: what the work
// has written so far would become durable without its memo.
var ErrWithinOnce = errors.New("sink: a memo within Once: set it before or after")

// memo sets a memo and makes the output durable with it. ends says that it is the memo of the
// Once that holds the journal.
func (p *publication) memo(name string, value []byte, ends bool) error {
	if err := p.output.Changed(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held && !ends {
		return ErrWithinOnce
	}
	if !p.begun {
		return p.through(nil)
	}
	p.needBase = true
	return p.through(func(take taker) error { return p.journal.SetMemo(p.key, name, value, take) })
}

// hold begins a time in which the journal gets nothing.
func (p *publication) hold() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		return ErrWithinOnce
	}
	p.held = true
	return nil
}

// release ends it. What the journal lacks is in the next flush.
func (p *publication) release() {
	p.mu.Lock()
	p.held = false
	p.mu.Unlock()
	p.pace.Changed(limits.Shown)
}

// end publishes the last of an output that is finished.
func (p *publication) end(e journal.End) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.begun {
		return p.through(nil)
	}
	return p.through(func(take taker) error { return p.journal.End(p.key, e, take) })
}

// taker gives the next batch to a transaction of the journal.
type taker = func() (journal.Batch, error)

// through takes the next batch into the journal by write, unless that is nil, and to the
// consumers whether or not it got there.
func (p *publication) through(write func(taker) error) error {
	var (
		ops   []chord.Op
		size  int
		batch journal.Batch
		taken bool
		err   error
	)
	take := func() (journal.Batch, error) {
		taken = true
		var err error
		ops, size, batch, err = p.next()
		return batch, err
	}
	if write != nil {
		err = write(take)
	}
	written := taken && err == nil
	if !taken {
		_, _ = take()
	}
	switch {
	case !written:
		p.needBase = p.needBase || len(ops) > 0
	case batch.Base:
		p.needBase, p.sinceBase = false, 0
	case len(batch.Wire) > 0:
		p.sinceBase++
	}
	if len(ops) > 0 {
		p.pace.Sent(size)
		p.emit(ops)
		p.pace.Acked(1)
	}
	return err
}

// next flushes the output and encodes the batch for the journal: what changed, or, when a base
// is due, all of it. The size is that of what changed.
func (p *publication) next() (ops []chord.Op, size int, b journal.Batch, err error) {
	o := p.output
	o.mu.Lock()
	defer o.mu.Unlock()
	if ops = o.flush(); len(ops) > 0 {
		p.wire, err = p.encoder.Encode(p.wire[:0], ops)
		size = len(p.wire)
		b = journal.Batch{Wire: p.wire, Base: chord.IsBase(ops)}
	}
	if err != nil || !b.Base && p.begun && (p.needBase || p.sinceBase >= rebaseEvery) {
		p.wire, err = p.encoder.Encode(p.wire[:0], []chord.Op{{Verb: chord.Replace, Value: o.doc.Value()}})
		b = journal.Batch{Wire: p.wire, Base: true}
	}
	return ops, size, b, err
}
