// This file is the first step of the side that is connected to: from an address to accepted
// connections.

package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Listen opens the socket of a unix:, tcp:, tls:, vsock: or systemd: address. ctx bounds the
// call, not the listener. Of opts it uses Token, TLS and InsecureTCP.
//
// A socket that strangers can reach, that is any but a unix one, is not opened without a token
// ([ErrTokenNeeded]), unless it is a tls: one that asks for certificates. Plain TCP anywhere but
// on the loopback interface is refused with [ErrInsecureTCP].
//
// A unix socket has mode 0600 from the moment it exists and its directory must
// exist. If something answers at the path the error wraps [ErrAddressInUse]; a
// socket nobody serves any more is replaced; anything else at the path is an
// error and stays. Close removes the socket, unless another has taken its place.
// A connection from another user (neither ours nor root) is accepted and closed
// at once: its Read and Write, and so [Server], fail with a [*PeerError].
func Listen(ctx context.Context, a Address, opts Options) (*Listener, error) {
	if err := a.check(); err != nil {
		return nil, &AddressError{a.String(), err}
	}
	if a.Scheme == SchemeInproc || a.Scheme == SchemeStdio {
		return nil, &AddressError{a.String(), fmt.Errorf("%w for listening: stdio: is served with Stdio (execagent stdio), inproc: with Pipe", ErrUnsupportedScheme)}
	}
	l, err := listen(ctx, a, opts)
	if err != nil {
		return nil, fmt.Errorf("transport: listening at %q: %w", a.String(), err)
	}
	return l, nil
}

func listen(ctx context.Context, a Address, opts Options) (*Listener, error) {
	if err := opts.checkServing(a.Scheme); err != nil {
		return nil, err
	}
	var l net.Listener
	var err error
	kind := a.Scheme
	switch a.Scheme {
	case SchemeUnix:
		l, err = listenUnix(ctx, a.Target)
	case SchemeTCP, SchemeTLS:
		l, err = listenTCP(ctx, a, opts)
	case SchemeVsock:
		l, err = listenVsock(a)
	case SchemeSystemd:
		l, kind, err = inheritSocket(a, opts)
	}
	if err != nil {
		return nil, err
	}
	return &Listener{socket: l, kind: kind, addr: a, closed: make(chan struct{})}, nil
}

// checkServing refuses what would let strangers in.
func (o Options) checkServing(kind string) error {
	switch kind {
	case SchemeTLS:
		if o.TLS == nil || len(o.TLS.Certificates) == 0 && o.TLS.GetCertificate == nil {
			return errors.New("a tls: listener needs a certificate and its private key (--tls-cert and --tls-key)")
		}
		if o.checksClients() {
			return nil
		}
	case SchemeTCP, SchemeVsock:
	default:
		return nil
	}
	if o.Token.IsZero() {
		return ErrTokenNeeded
	}
	return nil
}

// Listener accepts connections, for [Server] or, when agents dial out, for [Client]. Make one
// with [Listen]; whoever made it closes it. Its methods may be called concurrently.
type Listener struct {
	socket net.Listener
	kind   string
	addr   Address
	lobby  lobby
	once   sync.Once
	closed chan struct{}
}

// acceptPause is how long Accept waits when the system has no room for a connection.
const acceptPause = 100 * time.Millisecond

// Accept returns the next connection, and closes the one that has waited longest for its
// handshake if there are [MaxWaiting]. When the process or the system is out of descriptors or
// memory it waits until there are some again, and the peers wait in the kernel's queue.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.socket.Accept()
		if err == nil {
			c := &link{Conn: conn, kind: l.kind, lobby: &l.lobby}
			l.lobby.enter(c)
			return c, nil
		}
		if !passing(err) {
			return nil, err
		}
		select {
		case <-time.After(acceptPause):
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
}

// passing says whether an error of accept(2) is about the moment, not the socket.
func passing(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// Addr returns the socket's address, as package net has it.
func (l *Listener) Addr() net.Addr { return l.socket.Addr() }

// Address returns where to dial: the address given to [Listen], with the port that was chosen
// if it said 0.
func (l *Listener) Address() Address {
	host, port, err := net.SplitHostPort(l.addr.Target)
	tcp, ok := l.Addr().(*net.TCPAddr)
	if err != nil || !ok || port != "0" {
		return l.addr
	}
	return Address{l.addr.Scheme, net.JoinHostPort(host, strconv.Itoa(tcp.Port))}
}

// Close stops listening and releases Accept. It is idempotent.
func (l *Listener) Close() (err error) {
	l.once.Do(func() {
		close(l.closed)
		err = l.socket.Close()
	})
	return err
}

// PeerError says that a connection came from a user who may not use the agent.
type PeerError struct {
	UID int // the peer's effective user id when it connected; -1 if unknown
	Own int // the agent's
	Err error
}

func (e *PeerError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("transport: asking who the peer is: %v", e.Err)
	}
	return fmt.Sprintf("transport: peer has user id %d, and only %d and 0 may be one", e.UID, e.Own)
}

func (e *PeerError) Unwrap() error { return e.Err }

// refusedConn is a closed connection that remembers why.
type refusedConn struct {
	net.Conn
	why *PeerError
}

func (c *refusedConn) Read([]byte) (int, error)  { return 0, c.why }
func (c *refusedConn) Write([]byte) (int, error) { return 0, c.why }
