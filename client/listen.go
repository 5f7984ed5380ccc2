package client

// This file is the accepting side of agents that dial out: execagent connect.

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/execagent/execagent/transport"
)

// Listener waits for agents that dial out, because they cannot be dialed. Make one with
// [Listen]; whoever made it closes it. Its methods may be called concurrently.
//
// An agent whose connection breaks dials again. With Options.Reconnect its Conn goes on with that,
// as after a redial; without, it comes as another Conn. It is known by the name that each start of
// an agent makes up for itself, which is as secret as the agent keeps it.
type Listener struct {
	socket *transport.Listener
	opts   Options
	conns  chan *Conn
	ctx    context.Context // ends when Close begins
	stop   context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex            // guards the rest; not held across I/O
	failed error                 // why no more agents come
	known  map[string]*returning // agents whose connections go on, by instance
	only   *returning            // the one that all others come after, or nil
}

// returning is the Conn of an agent that may come back.
type returning struct {
	conn  *Conn
	links chan *link // by which it did
}

// Listen waits for agents at an address such as "tls:0.0.0.0:7777"; see [transport.Listen] for
// what it takes: a token or, with TLS, certificates of the agents.
func Listen(ctx context.Context, addr string, opts Options) (*Listener, error) {
	a, err := transport.ParseAddress(addr)
	if err != nil {
		return nil, err
	}
	socket, err := transport.Listen(ctx, a, opts.transport())
	if err != nil {
		return nil, err
	}
	opts.Logger = opts.logger()
	l := &Listener{socket: socket, opts: opts, conns: make(chan *Conn), known: make(map[string]*returning)}
	l.ctx, l.stop = context.WithCancel(context.Background())
	l.wg.Go(l.serve)
	return l, nil
}

// Address returns what agents dial, with the port that was chosen if 0 was asked for.
func (l *Listener) Address() string { return l.socket.Address().String() }

// Accept waits for the next agent. Strangers, who do not get through the handshake, are logged
// and do not count; they hold up nobody.
func (l *Listener) Accept(ctx context.Context) (*Conn, error) {
	select {
	case c, ok := <-l.conns:
		if !ok {
			return nil, l.err()
		}
		return c, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("client: waiting for an agent at %s: %w", l.Address(), ctx.Err())
	}
}

// AcceptOnly is Accept where there is but one agent: with Options.Reconnect, one that dials once it is
// gone is another start of it, as it would be for a Conn that dials.
func (l *Listener) AcceptOnly(ctx context.Context) (*Conn, error) {
	c, err := l.Accept(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.only = l.known[c.present().instance()]
	return c, nil
}

// Close stops waiting, and releases Accept. Connections that it has returned go on, until they
// break. It may be called more than once.
func (l *Listener) Close() error {
	l.stop()
	err := l.socket.Close()
	l.wg.Wait()
	return err
}

func (l *Listener) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// serve takes connections until there are no more.
func (l *Listener) serve() {
	var handshakes sync.WaitGroup
	for {
		conn, err := l.socket.Accept()
		if err != nil {
			l.mu.Lock()
			l.failed = fmt.Errorf("client: accepting agents at %s: %w", l.Address(), err)
			l.mu.Unlock()
			break
		}
		handshakes.Go(func() { l.greet(conn) })
	}
	handshakes.Wait()
	close(l.conns)
}

// greet makes a link of a connection, for the Conn of an agent that has come back, or for a new
// one that it hands to whoever asks next.
func (l *Listener) greet(conn io.ReadWriteCloser) {
	at, err := newLink(l.ctx, conn, l.opts)
	if err != nil {
		l.opts.Logger.Info("an agent did not get through the handshake", "error", err)
		return
	}
	if l.giveBack(at) {
		return
	}
	c := l.newConn(at)
	select {
	case l.conns <- c:
	case <-c.gone:
		c.Close()
	case <-l.ctx.Done():
		c.Close()
	}
}

// giveBack hands a link to the Conn that waits for this agent, if there is one.
func (l *Listener) giveBack(at *link) bool {
	l.mu.Lock()
	r := cmp.Or(l.known[at.instance()], l.only)
	l.mu.Unlock()
	if r == nil {
		return false
	}
	before := r.conn.present()
	if before.instance() == at.instance() {
		// The agent has given up that link, which this side may not know yet.
		before.session.Close()
	}
	var links chan<- *link // once the one before has ended
	ended := before.session.Done()
	for {
		select {
		case <-ended:
			ended, links = nil, r.links
			continue
		case links <- at:
			return true
		case <-r.conn.gone:
			return false
		case <-at.session.Done():
		case <-l.ctx.Done():
		}
		at.close()
		return true
	}
}

// newConn makes the Conn of an agent that is not known.
func (l *Listener) newConn(at *link) *Conn {
	if l.opts.Reconnect <= 0 {
		return newConn(at, nil, l.opts)
	}
	r := &returning{links: make(chan *link)}
	name := at.instance()
	l.mu.Lock()
	defer l.mu.Unlock()
	r.conn = newConn(at, func(ctx context.Context, cause error) (*link, error) {
		select {
		case at := <-r.links:
			return at, nil
		case <-ctx.Done():
			return nil, cause
		case <-l.ctx.Done():
			return nil, fmt.Errorf("client: nobody listens for the agent any more: %w", cause)
		}
	}, l.opts)
	l.known[name] = r
	r.conn.spawn(func() {
		<-r.conn.gone
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.known[name] == r {
			delete(l.known, name)
		}
		if l.only == r {
			l.only = nil
		}
	})
	return r.conn
}
