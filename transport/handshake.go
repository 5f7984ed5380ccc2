// This file is the step between a raw connection and two ends that know each
// other: the handshake, under a deadline.

package transport

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
)

// quoteWait is how long a stranger may take to say more than the bytes that
// gave it away. They only make the error readable.
const quoteWait = 50 * time.Millisecond

// handshake is one run of either side over a connection.
type handshake struct {
	conn       *wire
	opts       Options // with defaults
	role       string  // of the peer: sideAgent or sideClient
	channel    channel
	exported   []byte    // key material of the channel, if it has any
	transcript hash.Hash // of both hellos, the client's first
	seen       []byte    // the first bytes the peer sent, at most maxQuote
}

// agreement is what a successful handshake settles.
type agreement struct {
	peer       Hello
	maxPayload int // the largest payload the peer will read, in bytes
}

// shake runs do under ctx and the options' timeout. On any failure the
// connection is closed; that also is how a stuck read is released, whatever the
// connection is.
func shake(ctx context.Context, conn *wire, opts Options, role string, do func(*handshake) (agreement, error)) (agreement, error) {
	ctx, cancel := context.WithTimeout(ctx, opts.HandshakeTimeout)
	defer cancel()
	if c, ok := conn.conn.(*link); ok {
		defer c.settled()
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		conn.Close()
	})
	h := &handshake{conn: conn, opts: opts, role: role, channel: channelOf(conn.conn), transcript: sha256.New()}
	var agreed agreement
	err := h.secure()
	if err == nil {
		agreed, err = do(h)
	}
	if !stop() {
		<-closed
		conn.finish()
		return agreement{}, h.interrupted(ctx)
	}
	if err != nil {
		conn.finish()
		return agreement{}, h.explain(err)
	}
	return agreed, nil
}

// auth is the method of authentication that our side wants, and no other.
func (h *handshake) auth() string {
	if h.opts.Token.IsZero() {
		return authNone
	}
	return authToken
}

// asClient is the client's side.
func (h *handshake) asClient() (agreement, error) {
	hello := clientHello{
		MinVersion: MinVersion, MaxVersion: MaxVersion,
		Nonce: newNonce(), Software: h.opts.Software,
		Auth: []string{h.auth()}, Channel: h.channel.kind, MaxPayload: uint64(h.opts.ReadLimit),
	}
	// A stranger may close before it has read us, but not before it has said
	// what it is: so look at that, too, when sending fails.
	sendErr := h.sendHello(clientMagic, hello)
	if ours := (*HandshakeError)(nil); errors.As(sendErr, &ours) {
		return agreement{}, ours
	}
	if err := h.expectMagic(agentMagic, clientMagic); err != nil {
		return agreement{}, err
	}
	var answer agentHello
	if err := h.readHello(agentMagic, &answer); err != nil {
		return agreement{}, err
	}
	if answer.Error != nil {
		return agreement{}, h.refusal(answer.Error)
	}
	if err := answer.problem(h.auth()); err != nil {
		return agreement{}, err
	}
	if h.auth() == authToken {
		if err := h.clientProof(&answer); err != nil {
			return agreement{}, err
		}
	}
	return agreement{
		peer:       Hello{Software: answer.Software, Version: answer.Version, Instance: answer.Instance},
		maxPayload: payloadCap(answer.MaxPayload),
	}, nil
}

// clientProof is the client's part of the proofs, in the order that the agent has chosen.
func (h *handshake) clientProof(answer *agentHello) error {
	if !sameChannel(h.channel.kind, answer.Channel) {
		return &HandshakeError{
			Reason: ReasonAuth,
			Detail: fmt.Sprintf("we are connected by %q, the agent was reached by %s: somebody is between the two", h.channel.kind, quote(answer.Channel)),
			Remedy: "connect without a relay that changes the kind of the connection", Sent: string(h.seen),
		}
	}
	if h.channel.accepted && answer.First != sideAgent {
		return malformed("it dialed, and will not prove first")
	}
	return h.authenticate(sideClient, answer.First)
}

// asAgent is the agent's side.
func (h *handshake) asAgent() (agreement, error) {
	hello, err := h.readClient()
	if err != nil {
		return agreement{}, err
	}
	version, refusal := hello.choose(h.auth(), h.channel.kind)
	if refusal != nil {
		h.sendHello(agentMagic, agentHello{Error: refusal})
		return agreement{}, h.refusal(refusal)
	}
	answer := agentHello{
		Version: version, Nonce: newNonce(), Software: h.opts.Software,
		Instance: h.opts.Instance, Auth: h.auth(), MaxPayload: uint64(h.opts.ReadLimit),
	}
	if h.auth() == authToken {
		answer.Channel, answer.First = h.channel.kind, sideClient
		if h.channel.dialed {
			answer.First = sideAgent
		}
	}
	if err := h.sendHello(agentMagic, answer); err != nil {
		return agreement{}, err
	}
	if h.auth() == authToken {
		if err := h.authenticate(sideAgent, answer.First); err != nil {
			return agreement{}, err
		}
	}
	return agreement{
		peer:       Hello{Software: hello.Software, Version: version},
		maxPayload: payloadCap(hello.MaxPayload),
	}, nil
}

// readClient reads the client's hello and tells the client if it is not valid.
func (h *handshake) readClient() (*clientHello, error) {
	if err := h.expectMagic(clientMagic, agentMagic); err != nil {
		return nil, err
	}
	hello := new(clientHello)
	err := h.readHello(clientMagic, hello)
	if err == nil {
		err = hello.problem()
	}
	if bad := (*helloFormatError)(nil); errors.As(err, &bad) {
		h.sendHello(agentMagic, agentHello{Error: &helloError{ReasonMalformed, clip(bad.Error())}})
	}
	return hello, err
}

// payloadCap reads a peer's announced cap; a peer that names none has ours.
func payloadCap(announced uint64) int {
	if announced == 0 || announced > MaxPayload {
		return MaxPayload
	}
	return int(announced)
}

// sendHello sends a hello, and enters it into the transcript.
func (h *handshake) sendHello(magic [magicSize]byte, v any) error {
	msg, err := encodeMessage(magic[:], v)
	if err != nil {
		return err
	}
	h.transcript.Write(msg)
	_, err = h.conn.Write(msg)
	return err
}

// readHello reads a hello behind its magic, and enters both into the transcript.
func (h *handshake) readHello(magic [magicSize]byte, v any) error {
	text, err := readMessage(h, v)
	if err == nil {
		h.transcript.Write(messageBytes(magic[:], text))
	}
	return err
}

// sendMessage sends what follows the hellos.
func (h *handshake) sendMessage(v any) error {
	msg, err := encodeMessage(nil, v)
	if err != nil {
		return err
	}
	_, err = h.conn.Write(msg)
	return err
}

// Read reads from the connection and remembers the beginning for the errors.
func (h *handshake) Read(p []byte) (int, error) {
	n, err := h.conn.Read(p)
	h.seen = append(h.seen, p[:min(n, maxQuote-len(h.seen))]...)
	return n, err
}

// expectMagic reads the magic and fails at the first byte that differs: a
// stranger that sends less than a magic and waits must not cost the deadline.
func (h *handshake) expectMagic(want, opposite [magicSize]byte) error {
	var buf [magicSize]byte
	for n := 0; n < magicSize; {
		m, err := h.Read(buf[n:])
		n += m
		got := buf[:n]
		if !bytes.HasPrefix(want[:], got) && !bytes.HasPrefix(opposite[:], got) {
			h.readMore()
			return h.stranger()
		}
		if err != nil && n < magicSize {
			return noEOF(err)
		}
	}
	if buf == opposite {
		return &HandshakeError{
			Reason: ReasonNotExecagent,
			Detail: fmt.Sprintf("the peer greets as we do, so it is no %s: an echo, or two of the same side", h.role),
			Remedy: "connect a client to an agent, with no terminal in between (ssh -T; docker exec -i without -t)", Sent: string(h.seen),
		}
	}
	return nil
}

// readMore tries to learn a little more of what a stranger sent. The connection
// is lost anyway, so closing it can bound the wait whatever kind it is.
func (h *handshake) readMore() {
	stop := time.AfterFunc(quoteWait, func() { h.conn.Close() })
	defer stop.Stop()
	io.ReadFull(h, make([]byte, maxQuote-len(h.seen)))
}
