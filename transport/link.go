// This file is a connection that knows how it was made: by what kind of address, and by
// which side.

package transport

import (
	"crypto/tls"
	"io"
	"net"
	"sync/atomic"
)

// link is what [DialConn] and a [Listener] return for an address of a socket.
type link struct {
	net.Conn
	kind    string // the scheme of the address, as what counts for the channel
	dialed  bool   // by this side
	lobby   *lobby // where it waits until it has shaken hands; nil if dialed
	crowded atomic.Bool
}

// settled says that the handshake is over.
func (c *link) settled() {
	if c.lobby != nil {
		c.lobby.exit(c)
	}
}

func (c *link) Close() error {
	c.settled()
	return c.Conn.Close()
}

// channel is what a proof is bound to, so that it is worth nothing on another connection.
type channel struct {
	kind     string // a scheme; SchemeStdio for whatever we do not know
	dialed   bool   // this side dialed
	accepted bool   // this side accepted; neither for pipes and programs
	secure   *tls.Conn
}

// channelOf says what is known of a connection.
func channelOf(conn io.ReadWriteCloser) channel {
	switch c := conn.(type) {
	case *link:
		ch := channel{kind: c.kind, dialed: c.dialed, accepted: !c.dialed}
		ch.secure, _ = c.Conn.(*tls.Conn)
		return ch
	case *pipeEnd:
		return channel{kind: SchemeInproc}
	}
	return channel{kind: SchemeStdio}
}

// sameChannel reports whether two ends can be those of one connection with nobody between
// them who joined two. What a program or an inherited pipe leads to is not known; but it does
// not lead out of TLS, nor into this process.
func sameChannel(a, b string) bool {
	if a == b {
		return true
	}
	return a == SchemeStdio && pipeable(b) || b == SchemeStdio && pipeable(a)
}

func pipeable(kind string) bool {
	return kind == SchemeUnix || kind == SchemeTCP || kind == SchemeVsock
}
