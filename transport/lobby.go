// This file bounds the connections that have not yet shown who they are.

package transport

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// MaxWaiting is how many connections may be in the handshake at once in one [Lobby].
const MaxWaiting = 64

// Lobby is where connections wait until their handshake is complete. When [MaxWaiting] are
// there and another comes, the one that has waited longest is closed: strangers that stay and
// say nothing cannot keep out a client that needs a few milliseconds. The zero value is empty
// and ready; it may be used concurrently, and needs no closing.
type Lobby struct {
	mu      sync.Mutex
	waiting []*guest // the longest first
}

type guest struct{ leave context.CancelCauseFunc }

// errCrowded is why a handshake was given up for a newer one.
var errCrowded = errors.New("too many connections wait for their handshake")

// enter lets a handshake in, and perhaps another out. The caller calls exit when it is over.
func (l *Lobby) enter(leave context.CancelCauseFunc) (exit func()) {
	g := &guest{leave}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == MaxWaiting {
		l.waiting[0].leave(errCrowded)
		l.waiting = slices.Delete(l.waiting, 0, 1)
	}
	l.waiting = append(l.waiting, g)
	return func() { l.exit(g) }
}

func (l *Lobby) exit(g *guest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, g); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}
