// This file holds what a caller may set.

package transport

import (
	"crypto/tls"
	"log/slog"
	"time"
)

// defaultHandshakeTimeout bounds a handshake when Options does not.
const defaultHandshakeTimeout = 10 * time.Second

// Options are the settings of one side, from its address to its session. The zero value works.
type Options struct {
	// Software names this program and its version to the peer's users.
	Software string

	// Instance names this start of the agent, so that a client can tell a
	// restarted one from the old. Clients leave it empty.
	Instance string

	// Logger gets the multiplexer's troubles, never payload. Nil discards.
	Logger *slog.Logger

	// HandshakeTimeout bounds the handshake; zero means 10 seconds.
	HandshakeTimeout time.Duration

	// Token is the secret that both sides prove to have. A side that has one deals only with
	// a side that has the same. Zero means none.
	Token Token

	// TLS is for tls: addresses, in both directions; see [TLSFiles]. Nil means the defaults
	// of a side that dials. Versions and protocols are set here, whatever it says.
	TLS *tls.Config

	// InsecureTCP allows plain TCP off the loopback interface, where everybody on the way
	// reads and changes what is said. The token stays secret; the connection does not.
	InsecureTCP bool

	// ReadLimit is the largest payload in bytes this side accepts, compressed
	// or not; zero, or more than MaxPayload, means MaxPayload. The peer is told
	// and refuses to send more.
	ReadLimit int

	// KeepAlive is how often the peer is asked for a sign of life; zero means 10
	// seconds. A peer that gives none, or takes no bytes, for half as long again
	// is given up.
	KeepAlive time.Duration

	clocks clocks // zero except in this package's tests
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.HandshakeTimeout <= 0 {
		o.HandshakeTimeout = defaultHandshakeTimeout
	}
	if o.ReadLimit <= 0 || o.ReadLimit > MaxPayload {
		o.ReadLimit = MaxPayload
	}
	if o.clocks == (clocks{}) {
		o.clocks = defaultClocks
		if o.KeepAlive > 0 {
			o.clocks.keepAlive, o.clocks.write = o.KeepAlive, o.KeepAlive*3/2
		}
	}
	return o
}
