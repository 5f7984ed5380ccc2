package client

// This file is the accepting side of agents that dial out: execagent connect.

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/execagent/execagent/transport"
)

// Listener waits for agents that dial out, because they cannot be dialed. Make one with
// [Listen]; whoever made it closes it. Its methods may be called concurrently.
type Listener struct {
	socket *transport.Listener
	opts   Options
	conns  chan *Conn
	ctx    context.Context // ends when Close begins
	stop   context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex // guards failed; not held across I/O
	failed error      // why no more agents come
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
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Listener{socket: socket, opts: opts, conns: make(chan *Conn)}
	l.ctx, l.stop = context.WithCancel(context.Background())
	l.wg.Go(l.serve)
	return l, nil
}

// Address returns what agents dial, with the port that was chosen if 0 was asked for.
func (l *Listener) Address() string { return l.socket.Address().String() }

// Accept waits for the next agent. Strangers, who do not get through the handshake, are logged
// and do not count; they hold up nobody. An agent whose connection breaks dials again, and comes as
// another Conn: Options.Reconnect has no effect.
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

// Close stops waiting, and releases Accept. Connections that it has returned go on. It may be
// called more than once.
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

// greet makes an agent of a connection, and hands it to whoever asks next.
func (l *Listener) greet(conn io.ReadWriteCloser) {
	c, err := NewConn(l.ctx, conn, l.opts)
	if err != nil {
		l.opts.Logger.Info("an agent did not get through the handshake", "error", err)
		return
	}
	select {
	case l.conns <- c:
	case <-c.present().session.Done():
		c.Close()
	case <-l.ctx.Done():
		c.Close()
	}
}
