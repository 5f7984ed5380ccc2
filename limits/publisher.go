package limits

// This file is step 3, changes to moments: when a watcher is told the present state.

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// minInterval is the least time between two paced publications.
	minInterval = 100 * time.Millisecond
	// countedInterval is the least time before one that only moves totals.
	countedInterval = time.Second
	// publishRate is the pace of large publications, in encoded bytes a second.
	publishRate = 100 << 10
	// What a publication has above smallPublication encoded bytes is debt, paid off at
	// floodRate bytes a second; above floodDebt it delays the next one. Each full window that
	// a flood pushes through costs a link as much as minutes of common output, and shows text
	// that nobody can have followed: 1 GB through a PTY in 7 s was 200 kB on the wire without
	// this, and is 69 kB with it, a window every 2.6 s instead of 0.5 s after the first two.
	smallPublication = 8 << 10
	floodRate        = 16 << 10
	floodDebt        = 48 << 10
	// MaxUnacked is how many publications may be under way unacknowledged. Below it a
	// multiplexer's own window (256 KiB a stream) would fill with stale states.
	MaxUnacked = 2
)

// Publisher decides when one watcher is sent the present state. Nothing is queued: changes
// between two publications are one change, and the watcher sees the latest state.
//
//   - The first change after quiet is published at once.
//   - The next not before 100 ms have passed, or the size of the last at 100 KiB/s.
//   - In a flood, where each brings a full window, the third and later ones come at 16 KiB/s.
//   - A change of totals alone waits a second.
//   - An [Urgent] change waits for neither.
//   - Nothing is published while [MaxUnacked] publications are unacknowledged.
//
// Make one with [NewPublisher]. Changed and Acked may be called from any goroutine and never
// block; Next and Sent belong to the one goroutine that publishes. There is nothing to close:
// the context given to Next ends the waiting, and no timer outlives it.
type Publisher struct {
	pending atomic.Uint32 // the most urgent [Change] not yet published
	wake    chan struct{} // holds one: pending or unacked changed

	mu      sync.Mutex
	unacked int
	// sent is when the last publication went out; interval is the pause after it.
	sent     time.Time
	interval time.Duration
	debt     int // bytes, as of sent
}

// NewPublisher returns a publisher that has published nothing and knows of no change.
func NewPublisher() *Publisher {
	return &Publisher{wake: make(chan struct{}, 1)}
}

// Changed notes a change.
func (p *Publisher) Changed(c Change) {
	for {
		old := p.pending.Load()
		if uint32(c) <= old {
			return
		}
		if p.pending.CompareAndSwap(old, uint32(c)) {
			p.signal()
			return
		}
	}
}

// Acked notes that the watcher has taken n more publications. More than were sent count as all.
func (p *Publisher) Acked(n int) {
	p.mu.Lock()
	p.unacked = max(0, p.unacked-max(0, n))
	p.mu.Unlock()
	p.signal()
}

func (p *Publisher) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Next waits until a publication is due. The changes up to its return are covered by the
// state that the caller reads next. It returns the context's error when that ends first.
func (p *Publisher) Next(ctx context.Context) error {
	var timer *time.Timer
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		wait, due := p.due()
		if due {
			p.pending.Store(uint32(None))
			return nil
		}
		var elapsed <-chan time.Time
		if wait > 0 {
			if timer == nil {
				timer = time.NewTimer(wait)
				defer timer.Stop()
			} else {
				timer.Reset(wait)
			}
			elapsed = timer.C
		}
		select {
		case <-p.wake:
		case <-elapsed:
		case <-ctx.Done():
		}
	}
}

// due reports whether to publish now, or else how long to wait, 0 meaning for a signal.
func (p *Publisher) due() (wait time.Duration, now bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pending := Change(p.pending.Load())
	if pending == None || p.unacked >= MaxUnacked {
		return 0, false
	}
	if pending == Urgent || p.sent.IsZero() {
		return 0, true
	}
	interval := p.interval
	if pending == Counted {
		interval = max(interval, countedInterval)
	}
	wait = interval - time.Since(p.sent)
	return wait, wait <= 0
}

// Sent notes a publication of this many encoded bytes, before compression. It has to be called
// before the watcher can have it: an acknowledgement that came first would be lost, and its
// credit with it.
func (p *Publisher) Sent(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unacked++
	now := time.Now()
	paid := min(now.Sub(p.sent), time.Hour) * floodRate / time.Second // nothing is owed for as long
	p.debt = max(0, p.debt-int(paid)) + max(0, bytes-smallPublication)
	p.sent = now
	p.interval = max(minInterval, at(bytes, publishRate), at(p.debt-floodDebt, floodRate))
}

// at returns how long so many bytes take at a rate in bytes a second.
func at(bytes, rate int) time.Duration {
	return time.Duration(bytes) * time.Second / time.Duration(rate)
}
