// This file leads from a raw connection to a session, or refuses to.

package transport

import (
	"context"
	"io"

	"github.com/hashicorp/yamux"
)

// Client runs the client's handshake over conn and then the multiplexer. It
// owns conn from the call on and closes it if it fails; the error is then a
// [*HandshakeError].
func Client(ctx context.Context, conn io.ReadWriteCloser, opts Options) (*Session, error) {
	opts = opts.withDefaults()
	w := &wire{conn: conn}
	agreed, err := shake(ctx, w, opts, sideAgent, (*handshake).asClient)
	if err != nil {
		return nil, err
	}
	return newSession(w, agreed, opts, yamux.Client)
}

// Server is the agent's counterpart of [Client].
func Server(ctx context.Context, conn io.ReadWriteCloser, opts Options) (*Session, error) {
	opts = opts.withDefaults()
	w := &wire{conn: conn}
	agreed, err := shake(ctx, w, opts, sideClient, (*handshake).asAgent)
	if err != nil {
		return nil, err
	}
	return newSession(w, agreed, opts, yamux.Server)
}

// Refuse is what an agent does instead of [Server] with a client that it will
// not serve, for instance with [ReasonBusy]: it reads the client's hello, answers
// with the reason and a message for people, and closes conn.
func Refuse(ctx context.Context, conn io.ReadWriteCloser, opts Options, why Reason, message string) error {
	opts = opts.withDefaults()
	w := &wire{conn: conn}
	_, err := shake(ctx, w, opts, sideClient, func(h *handshake) (agreement, error) {
		if _, err := h.readClient(); err != nil {
			return agreement{}, err
		}
		return agreement{}, h.sendHello(agentMagic, agentHello{Error: &helloError{why, clip(message)}})
	})
	w.finish()
	return err
}
