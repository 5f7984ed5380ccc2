// This file is the client's first step: from an address to a raw connection.

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
)

// DialConn connects to an agent at a unix: or stdio:PROGRAM address; what it
// returns is for [Client]. The error is a [*DialError], or an [*AddressError]
// if the address cannot be dialled at all.
//
// ctx bounds the dialling, not the connection. A program started for a stdio:
// address belongs to the connection: its standard error is ours, and Close
// closes its standard input, waits for it, and kills it after two seconds.
func DialConn(ctx context.Context, a Address) (io.ReadWriteCloser, error) {
	if err := a.check(); err != nil {
		return nil, &AddressError{a.String(), err}
	}
	switch a.Scheme {
	case SchemeUnix:
		return dialUnix(ctx, a)
	case SchemeStdio:
		return startProgram(ctx, a)
	}
	return nil, &AddressError{a.String(), fmt.Errorf("%w for dialling: an agent in this process is reached with Pipe", ErrUnsupportedScheme)}
}

func dialUnix(ctx context.Context, a Address) (io.ReadWriteCloser, error) {
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
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err // the rest repeats the address
	}
	return nil, &DialError{Address: a, Remedy: remedy, Err: err}
}
