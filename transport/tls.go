// This file makes TLS configurations from files, and holds what all of them have in common.

package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// alpn names the protocol within TLS: a browser or a mail client that is led here finds that it
// has none in common.
const alpn = "execagent"

// TLSFiles names the PEM files of one side of tls: addresses. Empty ones are not used.
type TLSFiles struct {
	// Cert and Key are this side's certificate, with its chain, and private key. A side that
	// listens needs them; one that dials has them if the other asks for a certificate.
	Cert, Key string
	// CA holds the certificates that the other side's must descend from. To a side that dials,
	// none means the system's; to one that listens, that it asks for no certificate.
	CA string
	// ServerName is whom a side that dials wants to meet; "" means the address's host.
	ServerName string
}

// Load reads the files. The result is for both directions, for [Options].TLS.
func (f TLSFiles) Load() (*tls.Config, error) {
	config := &tls.Config{ServerName: f.ServerName}
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("transport: a certificate and its private key go together: give both or neither")
	}
	if f.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, fmt.Errorf("transport: loading the certificate %q with the key %q: %w", f.Cert, f.Key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if f.CA == "" {
		return config, nil
	}
	pem, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, fmt.Errorf("transport: loading certificate authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("transport: loading certificate authorities: %q holds no certificate in PEM form", f.CA)
	}
	config.RootCAs, config.ClientCAs = pool, pool
	return config, nil
}

// clientTLS is the configuration of the side that dials.
func (o Options) clientTLS(a Address) *tls.Config {
	config := commonTLS(o.TLS)
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(a.Target)
	}
	return config
}

// serverTLS is the configuration of the side that listens.
func (o Options) serverTLS() *tls.Config {
	config := commonTLS(o.TLS)
	if config.ClientCAs != nil {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config
}

// commonTLS sets what no caller may: a proof of the token counts on TLS 1.3's exporter.
func commonTLS(base *tls.Config) *tls.Config {
	config := new(tls.Config)
	if base != nil {
		config = base.Clone()
	}
	config.MinVersion = tls.VersionTLS13
	config.NextProtos = []string{alpn}
	config.SessionTicketsDisabled = true // connections last; tickets are bytes and state for nothing
	return config
}

// checksClients reports whether a listener with these options admits holders of a certificate only.
func (o Options) checksClients() bool { return o.TLS != nil && o.TLS.ClientCAs != nil }
