package client

// This file keeps a connection: it notices the end of a link and makes the next one.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/execagent/execagent/transport"
)

// Status says how a connection is doing.
type Status struct {
	State ConnState
	// Cause is why it is not connected; nil when it is.
	Cause error
}

// ConnState is the state of a connection.
//
//	connected ◀─▶ reconnecting ─▶ lost
type ConnState string

const (
	// Connected: the agent was reached again. Executions are followed from their present
	// state on, unless it is another start of the agent.
	Connected ConnState = "connected"
	// Reconnecting: the connection broke, and the agent is being dialed.
	Reconnecting ConnState = "reconnecting"
	// Lost: the connection broke and will not be made again.
	Lost ConnState = "lost"
)

const (
	// firstPause and longestPause bound the wait before an attempt: it doubles, and is cut by
	// up to half at random, so that the clients of an agent do not all come at once.
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	// attemptTimeout bounds one attempt, handshake included.
	attemptTimeout = 15 * time.Second
)

// nextLink gets the link that replaces one that ended by cause, by dialing or by waiting for the
// agent, until ctx ends. Its error is final.
type nextLink func(ctx context.Context, cause error) (*link, error)

// keep is the goroutine of a Conn: it gets a new link whenever one ends, as long as that is
// asked for and possible.
func (c *Conn) keep(l *link) {
	defer close(c.gone)
	for {
		<-l.done
		l.close()
		cause := l.err()
		if !c.resumable() || c.ctx.Err() != nil || isFinal(cause) {
			c.giveUp(cause)
			return
		}
		c.tell(Reconnecting, cause)
		next, err := c.another(cause)
		if err != nil {
			c.giveUp(err)
			return
		}
		c.adopt(next)
		l = next
	}
}

func (c *Conn) another(cause error) (*link, error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.opts.Reconnect)
	defer cancel()
	l, err := c.next(ctx, cause)
	switch {
	case err == nil:
		return l, nil
	case c.ctx.Err() != nil:
		return nil, errClosed
	case ctx.Err() != nil:
		return nil, fmt.Errorf("client: the agent could not be reached again within %v: %w", c.opts.Reconnect, err)
	}
	return nil, err
}

// redial dials until an agent answers.
func redial(ctx context.Context, connect ConnectFunc, opts Options, cause error) (*link, error) {
	log := opts.logger()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if !sleep(ctx, jitter(pause)) {
			return nil, cause
		}
		attempt, cancelAttempt := context.WithTimeout(ctx, attemptTimeout)
		l, err := dialLink(attempt, connect, opts)
		cancelAttempt()
		switch {
		case err == nil:
			return l, nil
		case isFinal(err):
			return nil, err
		}
		cause = err
		log.Debug("dialing the agent again", "error", err)
	}
}

var errClosed = errors.New("client: the connection was closed on this side")

// isFinal reports whether trying again is of no use.
func isFinal(err error) bool {
	if pe, f := (*ProtocolError)(nil), (*Failure)(nil); errors.As(err, &pe) || errors.As(err, &f) {
		return true
	}
	he := (*transport.HandshakeError)(nil)
	if !errors.As(err, &he) {
		return false
	}
	switch he.Reason {
	case transport.ReasonAuth, transport.ReasonVersionTooOld, transport.ReasonVersionTooNew:
		return true
	}
	return false
}

// jitter returns a time between half of d and d.
func jitter(d time.Duration) time.Duration { return d - rand.N(d/2+1) }

// sleep reports whether d passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// adopt makes l the present link, and has executions followed on it.
func (c *Conn) adopt(l *link) {
	c.mu.Lock()
	c.wireBytes += c.link.wireBytes()
	l.number = c.link.number + 1
	c.link = l
	close(c.changed)
	c.changed = make(chan struct{})
	for e := range c.executions {
		if !c.closing {
			c.wg.Go(func() { e.resume(l) })
		}
	}
	closing := c.closing
	c.mu.Unlock()
	if closing {
		l.session.Close()
	}
	c.tell(Connected, nil)
}

// giveUp says that no other link will come.
func (c *Conn) giveUp(cause error) {
	c.mu.Lock()
	c.over = cause
	close(c.changed)
	c.changed = make(chan struct{})
	all := c.executions
	c.executions = nil
	closing := c.closing
	c.mu.Unlock()
	for e := range all {
		e.lose(cause)
	}
	if !closing {
		c.tell(Lost, cause)
	}
}

func (c *Conn) tell(s ConnState, cause error) {
	c.opts.Logger.Info("connection", "state", string(s), "cause", cause)
	if c.opts.OnStatus != nil {
		c.opts.OnStatus(Status{s, cause})
	}
}
