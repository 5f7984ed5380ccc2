// This file says what went wrong in a handshake so that a person can act on it.

package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// stranger is the error for a peer with another protocol.
func (h *handshake) stranger() error {
	e := &HandshakeError{
		Reason: ReasonNotExecagent,
		Detail: fmt.Sprintf("the peer is no execagent %s: it sent %q", h.role, h.seen),
		Remedy: "check the address; " + h.logHint(),
		Sent:   string(h.seen),
	}
	if bytes.HasPrefix(h.seen, []byte{0x16, 3}) {
		e.Remedy = "it speaks TLS: is this to be a tls: address?"
	}
	if bytes.Contains(h.seen, clientMagic[1:6]) || bytes.Contains(h.seen, agentMagic[1:6]) {
		e.Remedy = "a terminal in between changes bytes: use ssh -T, docker exec -i, kubectl exec -i, without -t"
	}
	return e
}

// logHint says where a person finds out more.
func (h *handshake) logHint() string {
	if h.role == sideAgent {
		return "is execagent serve running there?"
	}
	return "only execagent clients connect here"
}

// refusal is the error for the agent's no, on either side.
func (h *handshake) refusal(r *helloError) error {
	e := &HandshakeError{Reason: r.Code, Sent: string(h.seen)}
	who := "the agent refuses"
	if h.role == sideClient {
		who = "refused a client"
	}
	e.Detail = fmt.Sprintf("%s: %s", who, quote(r.Message))
	switch r.Code {
	case ReasonVersionTooOld:
		e.Remedy = "upgrade the client"
	case ReasonVersionTooNew:
		e.Remedy = "upgrade the agent"
	case ReasonBusy:
		e.Remedy = "try again later"
	case ReasonAuth:
		e.Remedy = tokenRemedy
	case ReasonMalformed, ReasonRefused:
	default:
		e.Reason = ReasonRefused
		e.Detail = fmt.Sprintf("%s with the unknown code %s: %s", who, quote(r.Code), quote(r.Message))
	}
	return e
}

// interrupted is the error for a deadline or a cancelled context.
func (h *handshake) interrupted(ctx context.Context) error {
	e := &HandshakeError{Reason: ReasonCanceled, Detail: "cancelled", Sent: string(h.seen), Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Reason = ReasonTimeout
		e.Detail = fmt.Sprintf("the %s sent nothing within the deadline (at most %v)", h.role, h.opts.HandshakeTimeout)
		if len(h.seen) > 0 {
			e.Detail = fmt.Sprintf("the %s sent only %q within the deadline (at most %v)", h.role, h.seen, h.opts.HandshakeTimeout)
		}
		e.Remedy = "check the address; " + h.logHint()
	}
	return e
}

// explain turns whatever failed into a HandshakeError.
func (h *handshake) explain(err error) error {
	if done := (*HandshakeError)(nil); errors.As(err, &done) {
		return done
	}
	if c, ok := h.conn.conn.(*link); ok && c.crowded.Load() {
		return &HandshakeError{Reason: ReasonBusy, Detail: "given up", Sent: string(h.seen), Err: errCrowded}
	}
	if isAlert(err) {
		return h.tlsError(err)
	}
	e := &HandshakeError{Reason: ReasonClosed, Sent: string(h.seen), Err: err}
	if bad := (*helloFormatError)(nil); errors.As(err, &bad) {
		e.Reason = ReasonMalformed
		e.Detail = fmt.Sprintf("the %s's hello is not valid (it began %q)", h.role, h.seen)
		return e
	}
	if refused := (*PeerError)(nil); errors.As(err, &refused) {
		e.Reason, e.Detail = ReasonRefused, "refused a client"
		return e
	}
	e.Detail = fmt.Sprintf("the connection ended before the %s's hello", h.role)
	if len(h.seen) > 0 {
		e.Detail = fmt.Sprintf("the connection ended within the %s's hello, after %q", h.role, h.seen)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		e.Err = nil // it would say the same again
	}
	e.Remedy = h.logHint()
	if h.channel.kind == SchemeTCP && len(h.seen) == 0 {
		e.Remedy += "; or is it a tls: address?"
	}
	if why := h.conn.epilogue(); why != "" {
		e.Detail += " (" + why + ")"
	}
	return e
}
