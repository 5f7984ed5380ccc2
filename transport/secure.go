// This file is the TLS part of the handshake, and says what went wrong in it.

package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

const (
	// exporterLabel asks TLS for key material of this connection (RFC 8446, 7.5), which a
	// man in the middle does not have in common with both sides.
	exporterLabel = "EXPORTER-execagent-token"
	exporterSize  = 32
)

// secure runs the TLS handshake, if there is TLS.
func (h *handshake) secure() error {
	conn := h.channel.secure
	if conn == nil {
		return nil
	}
	if err := conn.Handshake(); err != nil { // ended by closing, as everything here
		return h.tlsError(err)
	}
	state := conn.ConnectionState()
	if state.NegotiatedProtocol != alpn {
		return &HandshakeError{Reason: ReasonNotExecagent, Detail: fmt.Sprintf("the peer's TLS does not know %q", alpn), Remedy: "check the address; " + h.logHint()}
	}
	var err error
	h.exported, err = state.ExportKeyingMaterial(exporterLabel, nil, exporterSize)
	return err
}

// tlsError gives an error of the TLS handshake, or one that TLS reports later, its place.
func (h *handshake) tlsError(err error) error {
	if header := (tls.RecordHeaderError{}); errors.As(err, &header) {
		return &HandshakeError{
			Reason: ReasonNotExecagent,
			Detail: fmt.Sprintf("the %s does not speak TLS: it sent %q", h.role, header.RecordHeader[:]),
			Remedy: "does the other side use a tls: address?", Sent: string(header.RecordHeader[:]),
		}
	}
	if fromConn(err) {
		return err
	}
	return &HandshakeError{
		Reason: ReasonTLS, Detail: "TLS", Err: err,
		Remedy: "check certificates, names and clocks (--tls-cert, --tls-ca, --tls-server-name)",
	}
}

// fromConn says whether an error of TLS is in truth one of the connection under it.
func fromConn(err error) bool {
	op, errno, refused := (*net.OpError)(nil), syscall.Errno(0), (*PeerError)(nil)
	if isAlert(err) {
		return false
	}
	return errors.As(err, &op) || errors.As(err, &errno) || errors.As(err, &refused) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// remoteAlert is what crypto/tls calls reading an alert.
const remoteAlert = "remote error"

// isAlert says whether an error of reading is the peer's no to our part of the TLS handshake,
// which in TLS 1.3 comes after that is done.
func isAlert(err error) bool {
	op := (*net.OpError)(nil)
	return errors.As(err, &op) && op.Op == remoteAlert
}
