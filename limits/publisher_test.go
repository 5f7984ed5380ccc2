package limits

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script drives one publisher in a bubble of faked time and notes when it publishes.
type script struct {
	p       *Publisher
	start   time.Time
	moments []time.Duration
	size    int // encoded bytes of each publication
	ack     bool
}

// bubble runs the publishing goroutine while body makes changes, and returns the moments.
func bubble(t *testing.T, size int, ack bool, body func(s *script)) []time.Duration {
	t.Helper()
	s := &script{size: size, ack: ack}
	synctest.Test(t, func(t *testing.T) {
		s.p, s.start = NewPublisher(), time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for s.p.Next(ctx) == nil {
				s.moments = append(s.moments, time.Since(s.start))
				s.p.Sent(s.size)
				if s.ack {
					s.p.Acked(1)
				}
			}
		}()
		body(s)
		synctest.Wait()
		cancel()
		<-done
	})
	return s.moments
}

// at waits until so long after the start.
func (s *script) at(d time.Duration) { time.Sleep(d - time.Since(s.start)) }

func equal(t *testing.T, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("published at %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("published at %v, want %v", got, want)
		}
	}
}

const ms = time.Millisecond

func TestPublisherLeadingEdge(t *testing.T) {
	equal(t, bubble(t, 10, true, func(s *script) {
		s.at(5 * ms)
		s.p.Changed(Shown) // the first change goes at once
		s.at(15 * ms)
		s.p.Changed(Shown) // these are one, 100 ms after it
		s.p.Changed(Shown)
		s.at(500 * ms)
		s.p.Changed(Shown) // at once again after quiet
		s.at(time.Second)
	}), 5*ms, 105*ms, 500*ms)
}

func TestPublisherPace(t *testing.T) {
	// 5000 changes in a second, as 5000 one-byte writes make: at most 12 publications.
	got := bubble(t, 100, true, func(s *script) {
		for range 5000 {
			s.p.Changed(Shown)
			time.Sleep(time.Second / 5000)
		}
	})
	if len(got) < 10 || len(got) > 12 {
		t.Errorf("%d publications in a second of steady changes: %v", len(got), got)
	}
	// 20 KiB at 100 KiB/s is 200 ms.
	equal(t, bubble(t, 20<<10, true, func(s *script) {
		for range 500 {
			s.p.Changed(Shown)
			time.Sleep(ms)
		}
		s.at(5 * time.Second)
	}), 0, 200*ms, 400*ms, 600*ms)
}

// steady is what comes of changes that do not end for so many seconds.
func steady(t *testing.T, size int, seconds time.Duration) []time.Duration {
	t.Helper()
	return bubble(t, size, true, func(s *script) {
		for time.Since(s.start) < seconds*time.Second {
			s.p.Changed(Shown)
			time.Sleep(ms)
		}
	})
}

func TestPublisherFlood(t *testing.T) {
	// Windows of 50 KiB are 42 KiB of debt each: two at the usual pace, then one every 2.6 s.
	equal(t, steady(t, 50<<10, 10), 0, 500*ms, 2250*ms, 4875*ms, 7500*ms)
	// Small ones are never delayed, however long they go on.
	if got := steady(t, smallPublication, 20); len(got) < 195 {
		t.Errorf("%d publications of %d bytes in 20 s of steady changes, want 10 a second", len(got), smallPublication)
	}
	// A flood that has ended is forgotten.
	equal(t, bubble(t, 50<<10, true, func(s *script) {
		for range 2 {
			for range 300 {
				s.p.Changed(Shown)
				time.Sleep(ms)
			}
			s.at(10 * time.Second)
		}
		s.p.Changed(Shown)
		s.at(20 * time.Second)
	}), 0, 500*ms, 10000*ms, 10500*ms)
}

func TestPublisherUrgentWaitsForNoPace(t *testing.T) {
	equal(t, bubble(t, 50<<10, true, func(s *script) {
		s.p.Changed(Shown)
		s.at(30 * ms)
		s.p.Changed(Shown)
		s.at(40 * ms)
		s.p.Changed(Urgent)
		s.at(time.Second)
	}), 0, 40*ms)
}

func TestPublisherTotalsWaitASecond(t *testing.T) {
	equal(t, bubble(t, 100, true, func(s *script) {
		s.p.Changed(Counted)
		for range 2500 {
			time.Sleep(ms)
			s.p.Changed(Counted)
		}
		s.at(2600 * ms)
		s.p.Changed(Shown) // does not wait for the totals' turn
		s.at(5 * time.Second)
	}), 0, 1000*ms, 2000*ms, 2600*ms)
}

func TestPublisherCredit(t *testing.T) {
	equal(t, bubble(t, 100, false, func(s *script) {
		for range 1000 { // nobody acknowledges: two, then none, not even an urgent one
			s.p.Changed(Shown)
			time.Sleep(ms)
		}
		s.p.Changed(Urgent)
		s.at(2 * time.Second)
		s.p.Acked(1)
		s.at(3 * time.Second)
		s.p.Acked(100) // a peer cannot build up credit
		for range 1000 {
			s.p.Changed(Shown)
			time.Sleep(ms)
		}
	}), 0, 100*ms, 2000*ms, 3000*ms, 3100*ms)
}

func TestPublisherContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPublisher()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := p.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}
