// This file keeps an agent connected to a client that cannot reach it: the agent dials.

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"
)

const (
	// firstPause and longestPause bound the wait between two attempts: it doubles, and is
	// cut by up to half at random, so that many agents do not come at once.
	firstPause   = 250 * time.Millisecond
	longestPause = 30 * time.Second

	// dialTimeout bounds one attempt to reach the address, before the handshake.
	dialTimeout = 30 * time.Second
)

// DialOut dials a, lets serve have the connection, and dials again when it has ended, until ctx
// ends. Then it returns nil, once serve has returned: ending the connection is for its owner.
// serve returns nil if there was a session, and else why not; of opts the options of
// [DialConn] count, and Token and Logger.
//
// Nothing that goes wrong on the way is final: a client may not be there yet, or be an older
// one. An address that can never be dialled is: an [*AddressError]. So is [ErrTokenNeeded]: over
// TCP and vsock whoever answers could else run commands here. Without a token a unix socket has to
// be served by the same user or root.
func DialOut(ctx context.Context, a Address, opts Options, serve func(io.ReadWriteCloser) error) error {
	if (a.Scheme == SchemeTCP || a.Scheme == SchemeVsock) && opts.Token.IsZero() {
		return fmt.Errorf("transport: dialing %q: %w", a.String(), ErrTokenNeeded)
	}
	opts = opts.withDefaults()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := dialOnce(ctx, a, opts, serve)
		switch bad := (*AddressError)(nil); {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &bad):
			return err
		case err == nil:
			pause = firstPause
		}
		wait := pause - rand.N(pause/2+1)
		level := slog.LevelWarn
		if err == nil {
			level = slog.LevelInfo
		}
		opts.Logger.Log(ctx, level, "dialing again", "address", a.String(), "in", wait, "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

func dialOnce(ctx context.Context, a Address, opts Options, serve func(io.ReadWriteCloser) error) error {
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := DialConn(dialing, a, opts)
	if err != nil {
		return err
	}
	if opts.Token.IsZero() {
		if err := checkServer(conn); err != nil {
			return errors.Join(err, conn.Close())
		}
	}
	return serve(conn)
}
