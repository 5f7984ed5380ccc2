package client

// This file is a connection to an agent, which may outlive the byte stream under it.

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/execagent/execagent/transport"
)

// Options are a client's settings. The zero value works.
type Options struct {
	// Software names this program and its version to the agent's operator.
	Software string
	// Logger gets the connection's troubles, never payload. Nil discards.
	Logger *slog.Logger
	// Reconnect is how long an agent that is out of reach is dialed again, or waited for if
	// it dials, before it is given up; 0 means that a lost connection stays lost. The agent
	// keeps results for an hour, so longer is of little use.
	Reconnect time.Duration
	// OnStatus, if not nil, is told when the connection is lost, made again and given up, by
	// one goroutine, in order; of a [Listener]'s connections by one each. It must not block,
	// nor close the Conn.
	OnStatus func(Status)
	// KeepAlive is how often the agent is asked for a sign of life; 0 means 10 seconds. Half
	// as long again without one, and the connection counts as lost.
	KeepAlive time.Duration
	// Token is the secret shared with the agent; zero means none. Make it with
	// [transport.ReadTokenFile] or [transport.TokenFromEnvironment]. An agent that does not
	// prove to have it is not dealt with.
	Token transport.Token
	// TLS is for tls: addresses; nil means the system's authorities and no certificate of
	// our own. See [transport.TLSFiles].
	TLS *tls.Config
	// InsecureTCP allows tcp: addresses off the loopback interface, in the clear.
	InsecureTCP bool
}

func (o *Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}

// transport returns the options of the layer below.
func (o *Options) transport() transport.Options {
	return transport.Options{
		Software:    o.Software,
		Logger:      o.Logger,
		KeepAlive:   o.KeepAlive,
		Token:       o.Token,
		TLS:         o.TLS,
		InsecureTCP: o.InsecureTCP,
	}
}

// Conn is a connection to an agent. Make one with [Dial], [DialFunc] or [NewConn], or get one from
// a [Listener], and Close it.
type Conn struct {
	opts Options
	next nextLink        // nil if a lost connection stays lost
	gone chan struct{}   // closed when no other link is waited for any more
	ctx  context.Context // ends when Close begins
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu         sync.Mutex // guards the rest; not held across I/O
	link       *link      // the present one, or the last
	changed    chan struct{}
	over       error // why there will be no other link
	closing    bool
	wireBytes  int64 // of links before the present one
	executions map[*Execution]struct{}
}

// ConnectFunc makes the byte stream of a connection. The context bounds the making alone.
type ConnectFunc func(context.Context) (io.ReadWriteCloser, error)

// Dial connects to the agent at an address such as "unix:/run/execagent.sock"; see
// [transport.ParseAddress]. The error is a [*transport.DialError] when nothing answers, and a
// [*transport.HandshakeError] when something other than an agent does. That the agent is not
// there to begin with is an error, whatever Options.Reconnect says.
func Dial(ctx context.Context, addr string, opts Options) (*Conn, error) {
	a, err := transport.ParseAddress(addr)
	if err != nil {
		return nil, err
	}
	connect := func(ctx context.Context) (io.ReadWriteCloser, error) {
		return transport.DialConn(ctx, a, opts.transport())
	}
	return DialFunc(ctx, connect, opts)
}

// DialFunc is [Dial] for an agent that is reached in another way: by connect, each time.
func DialFunc(ctx context.Context, connect ConnectFunc, opts Options) (*Conn, error) {
	l, err := dialLink(ctx, connect, opts)
	if err != nil {
		return nil, err
	}
	if opts.Reconnect <= 0 {
		return newConn(l, nil, opts), nil
	}
	return newConn(l, func(ctx context.Context, cause error) (*link, error) {
		return redial(ctx, connect, opts, cause)
	}, opts), nil
}

// NewConn speaks to an agent over conn, which it owns from the call on. Nothing can be dialed
// again: Options.Reconnect has no effect.
func NewConn(ctx context.Context, conn io.ReadWriteCloser, opts Options) (*Conn, error) {
	l, err := newLink(ctx, conn, opts)
	if err != nil {
		return nil, err
	}
	return newConn(l, nil, opts), nil
}

func newConn(l *link, next nextLink, opts Options) *Conn {
	opts.Logger = opts.logger()
	c := &Conn{
		opts:       opts,
		next:       next,
		gone:       make(chan struct{}),
		link:       l,
		changed:    make(chan struct{}),
		executions: make(map[*Execution]struct{}),
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.wg.Go(func() { c.keep(l) })
	return c
}

// Peer returns what the agent said of itself, the last time it was reached.
func (c *Conn) Peer() transport.Hello { return c.present().session.Peer() }

// WireBytes returns the bytes sent and received so far.
func (c *Conn) WireBytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wireBytes + c.link.wireBytes()
}

// Close ends the connection. Commands go on. It may be called more than once.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.stop()
	c.present().session.Close()
	c.wg.Wait()
	return nil
}

// spawn runs f in a goroutine that Close waits for, unless it has begun to.
func (c *Conn) spawn(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.wg.Go(f)
	}
}

// resumable reports whether a lost connection is made again.
func (c *Conn) resumable() bool { return c.next != nil }

func (c *Conn) present() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

// await returns a link that is not the dead one, waiting for it where there may be one, or says
// why there is none.
func (c *Conn) await(ctx context.Context, dead *link) (*link, error) {
	for {
		c.mu.Lock()
		l, over, changed := c.link, c.over, c.changed
		c.mu.Unlock()
		switch {
		case over != nil:
			return nil, over
		case l != dead && !l.ended():
			return l, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w, out of reach: %w", ctx.Err(), l.err())
		}
	}
}
