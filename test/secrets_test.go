//go:build linux

package test

// This file makes what lets a client in: tokens, and certificates.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport"
)

// secret is a token in a file.
type secret struct{ text, path string }

func newSecret(t testing.TB) secret {
	t.Helper()
	s := secret{rand.Text(), filepath.Join(t.TempDir(), "token")}
	if err := os.WriteFile(s.path, []byte(s.text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s secret) token(t testing.TB) transport.Token {
	t.Helper()
	token, err := transport.NewToken([]byte(s.text))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// listenOn starts an agent at another address than its socket, with more flags. With port 0 its
// address is the one that it says.
func listenOn(t testing.TB, addr string, flags ...string) *agent {
	t.Helper()
	a := startAgentAs(t, func(cmd *exec.Cmd) {
		cmd.Args[3] = addr // behind serve --listen
		cmd.Args = append(cmd.Args, flags...)
	})
	a.addr = a.said.after(t, "serving on ")
	return a
}

// authority issues certificates for localhost.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	path string // of its own certificate
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.cert, a.key, a.path, _ = a.issue(t, "ca", template, time.Hour)
	return a
}

// pair returns the paths of a certificate and its key, valid for so long, which may be negative.
func (a *authority) pair(t testing.TB, name string, valid time.Duration) (cert, key string) {
	t.Helper()
	_, _, cert, key = a.issue(t, name, &x509.Certificate{
		DNSNames:    []string{"localhost"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, valid)
	return cert, key
}

func (a *authority) issue(t testing.TB, name string, template *x509.Certificate, valid time.Duration) (_ *x509.Certificate, _ *ecdsa.PrivateKey, certPath, keyPath string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.Subject = pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(valid)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(ext, kind string, der []byte) string {
		path := filepath.Join(a.dir, name+ext)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return cert, key, write(".pem", "CERTIFICATE", der), write(".key", "PRIVATE KEY", keyDER)
}

// listening are the options of a client that agents dial.
func (a *authority) listening(t testing.TB, s secret, cert, key string) client.Options {
	t.Helper()
	config, err := transport.TLSFiles{Cert: cert, Key: key}.Load()
	if err != nil {
		t.Fatal(err)
	}
	return client.Options{TLS: config, Token: s.token(t)}
}

// options are a client's, for an agent of the authority.
func (a *authority) options(t testing.TB, s secret, cert, key string) client.Options {
	t.Helper()
	config, err := transport.TLSFiles{CA: a.path, ServerName: "localhost", Cert: cert, Key: key}.Load()
	if err != nil {
		t.Fatal(err)
	}
	opts := client.Options{TLS: config}
	if s.text != "" {
		opts.Token = s.token(t)
	}
	return opts
}
