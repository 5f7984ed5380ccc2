//go:build linux

package faults

// This file is one connection through the proxy: two directions, each with its fault.

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Link is a connection through a proxy. Its methods are safe for concurrent use.
type Link struct {
	near, far net.Conn // to the client, to the agent
	done      chan struct{}
	cut       sync.Once

	up, down atomic.Int64
}

// Bytes returns how many bytes came from the client, and from the agent.
func (l *Link) Bytes() (up, down int64) { return l.up.Load(), l.down.Load() }

// Cut closes both sides.
func (l *Link) Cut() {
	l.cut.Do(func() {
		close(l.done)
		l.near.Close()
		l.far.Close()
	})
}

// run passes bytes until both directions have ended.
func (l *Link) run(ctx context.Context, plan Plan) {
	defer l.Cut()
	defer context.AfterFunc(ctx, l.Cut)()
	var both sync.WaitGroup
	both.Go(func() { l.pass(l.far, l.near, plan.Up, &l.up) })
	both.Go(func() { l.pass(l.near, l.far, plan.Down, &l.down) })
	both.Wait()
}

// parcel is bytes that are to arrive at a time.
type parcel struct {
	bytes []byte
	at    time.Time
}

// pass moves one direction through its fault. The end of one direction cuts both: neither side
// half-closes.
func (l *Link) pass(to, from net.Conn, f Fault, count *atomic.Int64) {
	defer l.Cut()
	// With a delay, this is what is on the way.
	parcels := make(chan parcel, 256)
	var arriving sync.WaitGroup
	arriving.Go(func() {
		for p := range parcels {
			if !l.sleepUntil(p.at) {
				continue
			}
			if _, err := to.Write(p.bytes); err != nil {
				l.Cut()
			}
		}
	})
	defer arriving.Wait()
	defer close(parcels)
	var sent time.Time // when the last byte left, at the rate
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		before := count.Add(int64(n)) - int64(n)
		b := append([]byte(nil), buf[:n]...)
		if f.Rate > 0 {
			if now := time.Now(); sent.Before(now) {
				sent = now
			}
			sent = sent.Add(time.Duration(n) * time.Second / time.Duration(f.Rate))
			if !l.sleepUntil(sent) {
				return
			}
		}
		rest, ends := l.apply(&f, before, b, parcels)
		if ends {
			return
		}
		if len(rest) > 0 && !l.forward(parcels, rest, f.Delay) {
			return
		}
	}
}

// apply does what the fault says if its byte is among b, which begins at the byte before. It
// returns what of b is to be passed on, and whether the direction has ended.
func (l *Link) apply(f *Fault, before int64, b []byte, parcels chan<- parcel) (rest []byte, ends bool) {
	at := f.At - before
	if f.Kind == None || at >= int64(len(b)) || at < 0 && f.Kind != Swallow {
		return b, false
	}
	at = max(at, 0)
	switch f.Kind {
	case Corrupt:
		b[at] ^= 1 << (f.At % 8)
		return b, false
	case Cut:
		l.forward(parcels, b[:at], f.Delay)
		return nil, true
	case Stall:
		l.forward(parcels, b[:at], f.Delay)
		return b[at:], !l.sleepUntil(time.Now().Add(f.For))
	}
	return b[:at], false // swallow
}

func (l *Link) forward(parcels chan<- parcel, b []byte, delay time.Duration) bool {
	select {
	case parcels <- parcel{b, time.Now().Add(delay)}:
		return true
	case <-l.done:
		return false
	}
}

// sleepUntil reports whether the link was still there at that time.
func (l *Link) sleepUntil(at time.Time) bool {
	d := time.Until(at)
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.done:
		return false
	}
}
