// This file holds the errors a caller of this package may have to tell apart.

package transport

import (
	"errors"
	"fmt"
)

// Errors of [ParseAddress], [Listen] and [DialConn], found with [errors.Is].
var (
	// ErrUnknownScheme means that the scheme of an address is not one of ours.
	ErrUnknownScheme = errors.New("unknown scheme")

	// ErrUnsupportedScheme means that the scheme is one of ours but that this
	// build, or this operation, cannot use it.
	ErrUnsupportedScheme = errors.New("scheme not supported")

	// ErrAddressInUse means that something already listens at the address.
	ErrAddressInUse = errors.New("address already in use")

	// ErrInsecureTCP means that plain TCP would leave the loopback interface.
	ErrInsecureTCP = errors.New("plain TCP off loopback is refused")

	// ErrTokenNeeded means that strangers could reach what was to be served, and nothing
	// would keep them out.
	ErrTokenNeeded = errors.New("a token is needed: give --token-file FILE (made with: head -c 32 /dev/urandom | base64 > FILE; chmod 600 FILE)")
)

// Errors of an established [Session] and its [Stream]s, found with [errors.Is].
var (
	// ErrSessionClosed means that the session has ended, whichever side ended
	// it. The error that wraps it says why.
	ErrSessionClosed = errors.New("session closed")

	// ErrStreamClosed means that this side has closed the stream, or, for a
	// write, its writing half.
	ErrStreamClosed = errors.New("stream closed")

	// ErrStreamReset means that the peer dropped the stream, and with it what
	// it had not yet read and what we had not yet read.
	ErrStreamReset = errors.New("stream reset by peer")

	// ErrMalformedFrame means that the peer sent a frame which breaks the
	// format. It ends the stream it was on and no other.
	ErrMalformedFrame = errors.New("malformed frame")
)

// FrameTooLargeError says that a payload is over the cap of one side. From
// [Stream.WriteFrame] nothing has been sent and the stream can go on; from
// [Stream.ReadFrame] the stream is over and its neighbours go on.
type FrameTooLargeError struct {
	Kind Kind
	Size uint64 // payload bytes; on the wire or, if those fit, decompressed
	Max  uint64 // the cap in bytes
}

func (e *FrameTooLargeError) Error() string {
	return fmt.Sprintf("transport: frame of kind %d: payload of %d bytes is over the cap of %d: send it in pieces",
		e.Kind, e.Size, e.Max)
}

// DialError says that nothing could be reached at an address.
type DialError struct {
	Address Address
	Remedy  string // what to do about it, one clause
	Err     error  // the cause
}

func (e *DialError) Error() string {
	return fmt.Sprintf("transport: dialing %q: %v: %s", e.Address.String(), e.Err, e.Remedy)
}

func (e *DialError) Unwrap() error { return e.Err }

// AddressError says that a text is not an address, or not one that can be used
// here. Its cause may be [ErrUnknownScheme] or [ErrUnsupportedScheme].
type AddressError struct {
	Address string // the text as given
	Err     error
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("transport: address %q: %v", e.Address, e.Err)
}

func (e *AddressError) Unwrap() error { return e.Err }

// Reason is the kind of a [HandshakeError]. Those that one side may tell the
// other are the codes of SPEC.md.
type Reason string

const (
	// ReasonNotExecagent: the peer speaks something else.
	ReasonNotExecagent Reason = "not-execagent"
	// ReasonClosed: the connection ended before the handshake did.
	ReasonClosed Reason = "closed"
	// ReasonTimeout: the deadline passed first.
	ReasonTimeout Reason = "timeout"
	// ReasonCanceled: the context was cancelled first.
	ReasonCanceled Reason = "canceled"
	// ReasonVersionTooOld: the client is too old for the agent.
	ReasonVersionTooOld Reason = "version-too-old"
	// ReasonVersionTooNew: the client is too new for the agent.
	ReasonVersionTooNew Reason = "version-too-new"
	// ReasonMalformed: the magic was right and the hello behind it was not.
	ReasonMalformed Reason = "malformed"
	// ReasonAuth: one side has no token where the other asks for it, or another token, or
	// they are not the two ends of one connection.
	ReasonAuth Reason = "auth"
	// ReasonTLS: the TLS handshake failed; the cause says why, such as a certificate that
	// has expired, is another host's or comes from an unknown authority.
	ReasonTLS Reason = "tls"
	// ReasonBusy: the agent has no room for another connection now.
	ReasonBusy Reason = "busy"
	// ReasonRefused: the peer, or the operating system's word about it, is not
	// acceptable for another cause.
	ReasonRefused Reason = "refused"
)

// HandshakeError says why two ends did not come to a session.
type HandshakeError struct {
	Reason Reason
	Detail string // what happened, foreign text quoted
	Remedy string // what to do about it, one clause; may be empty
	Sent   string // the first bytes the peer sent, raw, at most maxQuote
	Err    error  // the cause, if there is one beyond Detail
}

func (e *HandshakeError) Error() string {
	s := "transport: handshake: " + e.Detail
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Remedy != "" {
		s += ": " + e.Remedy
	}
	return s
}

func (e *HandshakeError) Unwrap() error { return e.Err }
