// This file is the second half of the handshake: each side shows the other that it has the
// token, and neither shows the token.

package transport

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

const (
	authNone  = "none"
	authToken = "hmac-sha256"

	proofSize = sha256.Size
)

// Sides of a handshake, as the messages name them.
const (
	sideClient = "client"
	sideAgent  = "agent"
)

// proof is a message after the hellos: a proof, or a refusal of the other's.
type proof struct {
	Proof []byte      `json:"proof,omitempty"`
	Error *helloError `json:"error,omitempty"`
}

// prove computes the proof of one side: an HMAC, keyed with the token, of the side, the
// channel's key material and both hellos to the byte.
func (h *handshake) prove(side string) []byte {
	mac := hmac.New(sha256.New, []byte(*h.opts.Token.secret))
	mac.Write([]byte("execagent " + side + "\x00"))
	mac.Write([]byte{byte(len(h.exported))})
	mac.Write(h.exported)
	mac.Write(h.transcript.Sum(nil))
	return mac.Sum(nil)
}

// authenticate exchanges the proofs. first is the side whose proof goes first: the one that
// dialed, so that whoever merely waits for connections answers no stranger with anything made
// from the token.
func (h *handshake) authenticate(own, first string) error {
	if own == first {
		if err := h.sendProof(own); err != nil {
			return err
		}
		return h.checkProof()
	}
	if err := h.checkProof(); err != nil {
		return err
	}
	return h.sendProof(own)
}

func (h *handshake) sendProof(own string) error {
	return h.sendMessage(proof{Proof: h.prove(own)})
}

// checkProof reads the peer's proof. A peer whose proof is wrong is told.
func (h *handshake) checkProof() error {
	var p proof
	if _, err := readMessage(h, &p); err != nil {
		return err
	}
	if p.Error != nil {
		return h.refusal(p.Error)
	}
	if len(p.Proof) != proofSize {
		return malformed("proof of %d bytes, want %d", len(p.Proof), proofSize)
	}
	if hmac.Equal(p.Proof, h.prove(h.role)) {
		return nil
	}
	why := &helloError{ReasonAuth, "wrong token, or somebody is between the two"}
	h.sendMessage(proof{Error: why})
	return &HandshakeError{
		Reason: ReasonAuth,
		Detail: fmt.Sprintf("the %s has another token, or somebody is between the two", h.role),
		Remedy: tokenRemedy, Sent: string(h.seen),
	}
}

const tokenRemedy = "give both sides the same token (--token-file)"

// messageBytes returns magic, length and text: what a message is on the wire, and in the
// transcript.
func messageBytes(magic []byte, text []byte) []byte {
	out := binary.BigEndian.AppendUint16(append([]byte(nil), magic...), uint16(len(text)))
	return append(out, text...)
}
