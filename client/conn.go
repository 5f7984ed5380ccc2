package client

// This file is a connection to an agent.

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// Options are a client's settings. The zero value works.
type Options struct {
	// Software names this program and its version to the agent's operator.
	Software string
	// Logger gets the connection's troubles, never payload. Nil discards.
	Logger *slog.Logger
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

// transport returns the options of the layer below.
func (o *Options) transport() transport.Options {
	return transport.Options{
		Software:    o.Software,
		Logger:      o.Logger,
		Token:       o.Token,
		TLS:         o.TLS,
		InsecureTCP: o.InsecureTCP,
	}
}

// Conn is a connection to an agent. Make one with [Dial] or [NewConn], and Close it.
type Conn struct {
	session *transport.Session
	control *transport.Stream
	wg      sync.WaitGroup

	mu       sync.Mutex // guards the rest; not held across I/O
	watchers uint64     // numbers given out
	requests uint64     // the same for requests
	waiting  map[uint64]chan protocol.Reply
	inputs   map[uint64]*stdin // by watcher
	lost     error             // why no reply will come any more
}

// Dial connects to the agent at an address such as "unix:/run/execagent.sock"; see
// [transport.ParseAddress]. The error is a [*transport.DialError] when nothing answers, and a
// [*transport.HandshakeError] when something other than an agent does.
func Dial(ctx context.Context, addr string, opts Options) (*Conn, error) {
	a, err := transport.ParseAddress(addr)
	if err != nil {
		return nil, err
	}
	conn, err := transport.DialConn(ctx, a, opts.transport())
	if err != nil {
		return nil, err
	}
	return NewConn(ctx, conn, opts)
}

// NewConn speaks to an agent over conn, which it owns from the call on.
func NewConn(ctx context.Context, conn io.ReadWriteCloser, opts Options) (*Conn, error) {
	return newConnIn(ctx, conn, opts, nil)
}

// newConnIn is NewConn with a bound on the handshakes that are under way.
func newConnIn(ctx context.Context, conn io.ReadWriteCloser, opts Options, lobby *transport.Lobby) (*Conn, error) {
	settings := opts.transport()
	settings.Lobby = lobby
	s, err := transport.Client(ctx, conn, settings)
	if err != nil {
		return nil, err
	}
	control, err := s.Open(ctx)
	if err == nil {
		err = control.WriteFrame(protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenControl}))
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	c := &Conn{session: s, control: control, waiting: make(map[uint64]chan protocol.Reply), inputs: make(map[uint64]*stdin)}
	c.wg.Go(c.receive)
	return c, nil
}

// Peer returns what the agent said of itself.
func (c *Conn) Peer() transport.Hello { return c.session.Peer() }

// WireBytes returns the bytes sent and received on the connection so far.
func (c *Conn) WireBytes() int64 { return c.session.BytesRead() + c.session.BytesWritten() }

// Close ends the connection. Commands go on. It may be called more than once.
func (c *Conn) Close() error {
	err := c.session.Close()
	c.wg.Wait()
	return err
}

// open makes an execution's stream and sends what it is for.
func (c *Conn) open(ctx context.Context, o *protocol.Open) (*Execution, error) {
	stream, err := c.session.Open(ctx)
	if err != nil {
		return nil, err
	}
	e := &Execution{conn: c, stream: stream, stop: func() bool { return true }}
	e.stdin = &stdin{e: e}
	c.mu.Lock()
	c.watchers++
	e.watcher = c.watchers
	c.inputs[e.watcher] = e.stdin
	c.mu.Unlock()
	o.Watcher = e.watcher
	if err := stream.WriteFrame(protocol.KindOpen, protocol.Encode(o)); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// forget says that nobody follows by this watcher any more.
func (c *Conn) forget(watcher uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.inputs, watcher)
}
