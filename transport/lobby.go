// This file bounds the connections that have not yet shown who they are.

package transport

import (
	"errors"
	"slices"
	"sync"
)

// MaxWaiting is how many connections of a [Listener] may be in the handshake at once. When so many
// are there and another is accepted, the one that has waited longest is closed: strangers that
// stay and say nothing cannot keep out a client that needs a few milliseconds.
const MaxWaiting = 64

// errCrowded is why a handshake was given up for a newer one.
var errCrowded = errors.New("too many connections wait for their handshake")

// lobby is where the connections of a listener wait, in the order in which they were accepted:
// goroutines of theirs would begin in any. The zero value is empty.
type lobby struct {
	mu      sync.Mutex
	waiting []*link // the longest first
}

// enter lets a connection in, and perhaps another out.
func (l *lobby) enter(c *link) {
	l.mu.Lock()
	var oldest *link
	if len(l.waiting) == MaxWaiting {
		oldest = l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		oldest.crowded.Store(true)
	}
	l.waiting = append(l.waiting, c)
	l.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
}

// exit says that a connection waits no longer: its handshake is over, or it is closed.
func (l *lobby) exit(c *link) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, c); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}
