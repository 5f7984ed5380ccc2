package main

// This file tells the user when the connection to the agent breaks and is made again.

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/execagent/execagent/client"
)

// news passes on how a connection is doing: to stderr, until somebody shows it in another way.
type news struct {
	mu   sync.Mutex // guards show; held while it is called
	show func(client.Status)
}

func newNews() *news {
	return &news{show: func(s client.Status) { printStatus(os.Stderr, s, "\n") }}
}

// tell is for [client.Options].OnStatus.
func (n *news) tell(s client.Status) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.show(s)
}

// to has news shown by show from now on.
func (n *news) to(show func(client.Status)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.show = show
}

// printStatus writes one line, unless the connection was given up: that is the error in which
// execctl ends.
func printStatus(w io.Writer, s client.Status, newline string) {
	switch s.State {
	case client.Reconnecting:
		fmt.Fprintf(w, "execctl: connection lost, dialing again: %v%s", s.Cause, newline)
	case client.Connected:
		fmt.Fprintf(w, "execctl: connected again%s", newline)
	}
}
