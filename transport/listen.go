// This file is the agent's first step: from an address to accepted connections.

package transport

import (
	"context"
	"fmt"
	"net"
)

// Listen opens the socket of a unix: address. ctx bounds the call, not the
// listener.
//
// The socket has mode 0600 from the moment it exists and its directory must
// exist. If something answers at the path the error wraps [ErrAddressInUse]; a
// socket nobody serves any more is replaced; anything else at the path is an
// error and stays. Close removes the socket, unless another has taken its place.
//
// A connection from another user (neither ours nor root) is accepted and closed
// at once: its Read and Write, and so [Server], fail with a [*PeerError].
func Listen(ctx context.Context, a Address) (net.Listener, error) {
	if err := a.check(); err != nil {
		return nil, &AddressError{a.String(), err}
	}
	if a.Scheme != SchemeUnix {
		return nil, &AddressError{a.String(), fmt.Errorf("%w for listening: use unix:PATH; stdio: is served with Stdio, inproc: with Pipe", ErrUnsupportedScheme)}
	}
	l, err := listenUnix(ctx, a.Target)
	if err != nil {
		return nil, fmt.Errorf("transport: listening at %q: %w", a.String(), err)
	}
	return l, nil
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
	return fmt.Sprintf("transport: peer has user id %d, and only %d and 0 may connect", e.UID, e.Own)
}

func (e *PeerError) Unwrap() error { return e.Err }

// refusedConn is a closed connection that remembers why.
type refusedConn struct {
	net.Conn
	why *PeerError
}

func (c *refusedConn) Read([]byte) (int, error)  { return 0, c.why }
func (c *refusedConn) Write([]byte) (int, error) { return 0, c.why }
