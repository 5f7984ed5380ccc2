// This file is the first step of the side that connects: from an address to a raw connection.

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
)

// DialConn connects to a unix:, tcp:, tls:, vsock: or stdio:PROGRAM address; what it
// returns is for [Client], or for [Server] when an agent dials out. The error is a [*DialError],
// or an [*AddressError] if the address cannot be dialled at all. Of opts it uses TLS and
// InsecureTCP. The TLS handshake is part of the one that follows.
//
// ctx bounds the dialling, not the connection. A program started for a stdio:
// address belongs to the connection: its standard error is ours, and Close
// closes its standard input, waits for it, and kills it after two seconds.
func DialConn(ctx context.Context, a Address, opts Options) (io.ReadWriteCloser, error) {
	if err := a.check(); err != nil {
		return nil, &AddressError{a.String(), err}
	}
	var conn net.Conn
	var err error
	switch a.Scheme {
	case SchemeUnix:
		conn, err = dialUnix(ctx, a)
	case SchemeTCP, SchemeTLS:
		conn, err = dialTCP(ctx, a, opts)
	case SchemeVsock:
		conn, err = dialVsock(ctx, a)
	case SchemeStdio:
		return startProgram(ctx, a)
	case SchemeSystemd:
		err = &AddressError{a.String(), fmt.Errorf("%w for dialling: it is for a listener", ErrUnsupportedScheme)}
	case SchemeInproc:
		err = &AddressError{a.String(), fmt.Errorf("%w for dialling: an agent in this process is reached with Pipe", ErrUnsupportedScheme)}
	}
	if err != nil {
		return nil, err
	}
	return &link{Conn: conn, kind: a.Scheme, dialed: true}, nil
}

func dialUnix(ctx context.Context, a Address) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", a.Target)
	if err == nil {
		return conn, nil
	}
	remedy := fmt.Sprintf("start it with: execagent serve --listen %s", a)
	switch {
	case ctx.Err() != nil:
		remedy = "the agent did not accept in time; is it overloaded or stopped?"
	case errors.Is(err, fs.ErrPermission):
		remedy = "the socket belongs to another user; connect as that user"
	}
	return nil, &DialError{Address: a, Remedy: remedy, Err: opCause(err)}
}
