// This file holds what the two sides say before the multiplexer: magics,
// versions and hellos. SPEC.md draws them.

package transport

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Versions of the whole protocol, messages included, that this build speaks.
const (
	MinVersion = 2
	MaxVersion = 2
)

const (
	magicSize  = 8
	maxHello   = 4 << 10 // JSON bytes of one hello
	nonceSize  = 32      // bytes
	maxQuote   = 64      // bytes of a stranger's text kept for the error
	maxMessage = 300     // bytes of a peer's message that are repeated
)

// The magics differ so that an echo is not mistaken for an agent. Their first
// byte is not ASCII and they end with CR LF so that a terminal in between,
// which would eat or change some later byte, shows at once.
var (
	clientMagic = [magicSize]byte{0x89, 'E', 'X', 'E', 'C', '>', '\r', '\n'}
	agentMagic  = [magicSize]byte{0x89, 'E', 'X', 'E', 'C', '<', '\r', '\n'}
)

// Hello is what one side knows of the other after the handshake.
type Hello struct {
	Software string // name and version, for people; foreign text
	Version  int    // the negotiated protocol version
	Instance string // which start of the agent this is; empty from a client
}

// clientHello is the first message, from the client.
type clientHello struct {
	MinVersion int      `json:"minVersion"`
	MaxVersion int      `json:"maxVersion"`
	Nonce      []byte   `json:"nonce"` // base64 in JSON
	Software   string   `json:"software"`
	Auth       []string `json:"auth"`                 // methods it accepts
	Channel    string   `json:"channel"`              // the connection, as it sees it
	MaxPayload uint64   `json:"maxPayload,omitempty"` // bytes it will read
}

// agentHello is the answer. With Error set nothing else counts.
type agentHello struct {
	Version    int         `json:"version,omitempty"`
	Nonce      []byte      `json:"nonce,omitempty"`
	Software   string      `json:"software,omitempty"`
	Instance   string      `json:"instance,omitempty"`
	Auth       string      `json:"auth,omitempty"`    // the method chosen
	Channel    string      `json:"channel,omitempty"` // the connection, as it sees it
	First      string      `json:"first,omitempty"`   // the side that proves first: "client" or "agent"
	MaxPayload uint64      `json:"maxPayload,omitempty"`
	Error      *helloError `json:"error,omitempty"`
}

// helloError is the agent's refusal.
type helloError struct {
	Code    Reason `json:"code"`
	Message string `json:"message"`
}

// problem says what is wrong with a client's hello, or nil.
func (h *clientHello) problem() error {
	switch {
	case h.MinVersion < 1 || h.MaxVersion < h.MinVersion:
		return malformed("versions %d to %d are not a range", h.MinVersion, h.MaxVersion)
	case len(h.Nonce) != nonceSize:
		return malformed("nonce of %d bytes, want %d", len(h.Nonce), nonceSize)
	}
	return nil
}

// choose picks the highest version and the one authentication method that our side wants, or
// says why it cannot.
func (h *clientHello) choose(auth, channel string) (version int, refusal *helloError) {
	ours := fmt.Sprintf("agent speaks versions %d to %d", MinVersion, MaxVersion)
	switch {
	case h.MaxVersion < MinVersion:
		return 0, &helloError{ReasonVersionTooOld, fmt.Sprintf("%s, client at most %d", ours, h.MaxVersion)}
	case h.MinVersion > MaxVersion:
		return 0, &helloError{ReasonVersionTooNew, fmt.Sprintf("%s, client at least %d", ours, h.MinVersion)}
	case slices.Contains(h.Auth, auth):
	case auth == authToken:
		return 0, &helloError{ReasonAuth, "this agent asks for a token, and the client has none"}
	case slices.Contains(h.Auth, authToken):
		return 0, &helloError{ReasonAuth, "this agent has no token, and the client insists on one"}
	default:
		return 0, &helloError{ReasonAuth, fmt.Sprintf("agent knows the method %q, client offers %s", auth, quote(h.Auth))}
	}
	if auth == authToken && !sameChannel(h.Channel, channel) {
		return 0, &helloError{ReasonAuth, fmt.Sprintf("the client connected by %s, the agent was reached by %q: somebody is between the two", quote(h.Channel), channel)}
	}
	return min(h.MaxVersion, MaxVersion), nil
}

// problem says what is wrong with an agent's hello that is no refusal, or nil. auth is the
// method that the client offered.
func (h *agentHello) problem(auth string) error {
	switch {
	case h.Version < MinVersion || h.Version > MaxVersion:
		return malformed("chose version %d of %d to %d", h.Version, MinVersion, MaxVersion)
	case len(h.Nonce) != nonceSize:
		return malformed("nonce of %d bytes, want %d", len(h.Nonce), nonceSize)
	case h.Auth != auth:
		return malformed("chose the method %s, not offered", quote(h.Auth))
	case auth == authToken && h.First != sideClient && h.First != sideAgent:
		return malformed("%s is to prove first", quote(h.First))
	}
	return nil
}

func newNonce() []byte {
	nonce := make([]byte, nonceSize)
	rand.Read(nonce) // never fails: see crypto/rand
	return nonce
}

// quote quotes foreign text and cuts it to maxMessage bytes.
func quote(v any) string { return clip(fmt.Sprintf("%+q", v)) }

func clip(s string) string {
	if len(s) > maxMessage {
		return s[:maxMessage] + "..."
	}
	return s
}

// encodeMessage returns magic, length and JSON of v.
func encodeMessage(magic []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text) > maxHello {
		return nil, &HandshakeError{
			Reason: ReasonMalformed,
			Detail: fmt.Sprintf("our own hello has %d bytes, over %d", len(text), maxHello),
			Remedy: "shorten Options.Software and Options.Instance",
		}
	}
	return messageBytes(magic, text), nil
}

// readMessage reads length and JSON, the magic if any already consumed, into v, and returns
// the text.
func readMessage(r io.Reader, v any) (text []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, noEOF(err)
	}
	n := binary.BigEndian.Uint16(head[:])
	if n > maxHello {
		return nil, malformed("hello of %d bytes is over %d", n, maxHello)
	}
	text = make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, noEOF(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return nil, malformed("%s", clip(err.Error())) // it may repeat a long number
	}
	return text, nil
}

// helloFormatError marks what the peer's bytes did wrong, as opposed to the
// connection under them.
type helloFormatError struct{ error }

func (e *helloFormatError) Unwrap() error { return e.error }

func malformed(format string, args ...any) error {
	return &helloFormatError{fmt.Errorf(format, args...)}
}
