// This file dials and listens over TCP, in the clear or under TLS.

package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// onlyLoopback refuses to bind or connect a socket anywhere else. It sees the address that the
// kernel will be given: what a name was resolved to, or all of the machine's.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	if ap, err := netip.ParseAddrPort(address); err == nil && ap.Addr().Unmap().IsLoopback() {
		return nil
	}
	return fmt.Errorf("%w: %s is not the loopback interface: use tls:, or insist with --insecure-tcp", ErrInsecureTCP, address)
}

func dialTCP(ctx context.Context, a Address, opts Options) (net.Conn, error) {
	var d net.Dialer
	if a.Scheme == SchemeTCP && !opts.InsecureTCP {
		d.Control = onlyLoopback
	}
	conn, err := d.DialContext(ctx, "tcp", a.Target)
	if err == nil && a.Scheme == SchemeTLS {
		conn = tls.Client(conn, opts.clientTLS(a))
	}
	if err == nil {
		return conn, nil
	}
	remedy := fmt.Sprintf("is an agent or a client listening at %s?", a)
	switch {
	case ctx.Err() != nil:
		remedy = "no answer in time; check the address, and that no firewall is between"
	case errors.Is(err, ErrInsecureTCP):
		remedy = "the connection would be in the clear"
	}
	return nil, &DialError{Address: a, Remedy: remedy, Err: opCause(err)}
}

func listenTCP(ctx context.Context, a Address, opts Options) (net.Listener, error) {
	var lc net.ListenConfig
	if a.Scheme == SchemeTCP && !opts.InsecureTCP {
		lc.Control = onlyLoopback
	}
	l, err := lc.Listen(ctx, "tcp", a.Target)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w: something listens there: stop it or use another port", ErrAddressInUse)
	case err != nil:
		return nil, opCause(err)
	case a.Scheme == SchemeTLS:
		return tls.NewListener(l, opts.serverTLS()), nil
	}
	return l, nil
}

// opCause strips the wrapping that repeats the address.
func opCause(err error) error {
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		return op.Err
	}
	return err
}
