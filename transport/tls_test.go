// This file holds the tests of TLS: certificates that will do and those that will not.

package transport

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCertificates(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	good := ours.issue(t, "good", time.Hour)
	expired := ours.issue(t, "expired", -time.Hour)
	foreign := theirs.issue(t, "foreign", time.Hour)
	with := func(f TLSFiles, ca, name string) TLSFiles {
		f.CA, f.ServerName = ca, name
		return f
	}
	for _, c := range []struct {
		name           string
		dialer, server TLSFiles
		dialerSays     string // empty for success
		serverSays     string
	}{
		{"server alone", with(TLSFiles{}, ours.CA, "localhost"), good, "", ""},
		{"both", with(good, ours.CA, "localhost"), with(good, ours.CA, ""), "", ""},
		{"expired server", with(TLSFiles{}, ours.CA, "localhost"), expired, "expired", "bad certificate"},
		{"foreign server", with(TLSFiles{}, ours.CA, "localhost"), foreign, "unknown authority", "bad certificate"},
		{"other name", with(TLSFiles{}, ours.CA, "elsewhere"), good, "not elsewhere", "bad certificate"},
		{"name of the address", with(TLSFiles{}, ours.CA, ""), good, "127.0.0.1", "bad certificate"},
		{"system's authorities", with(TLSFiles{}, "", "localhost"), good, "unknown authority", "bad certificate"},
		{"no client certificate", with(TLSFiles{}, ours.CA, "localhost"), with(good, ours.CA, ""), "certificate required", "didn't provide a certificate"},
		{"expired client", with(expired, ours.CA, "localhost"), with(good, ours.CA, ""), "certificate", "expired"},
		{"foreign client", with(foreign, ours.CA, "localhost"), with(good, ours.CA, ""), "certificate", "unknown authority"},
	} {
		for _, dialOut := range []bool{false, true} { // who dials and who is the client are two things
			t.Run(c.name+map[bool]string{true: "/out"}[dialOut], func(t *testing.T) {
				token := mustToken(t, rightToken)
				l, err := Listen(testContext(t), Address{SchemeTLS, "127.0.0.1:0"}, Options{TLS: mustLoad(t, c.server), Token: token})
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				accepted := make(chan io.ReadWriteCloser, 1)
				go func() {
					conn, _ := l.Accept()
					accepted <- conn
				}()
				dialed, err := DialConn(testContext(t), l.Address(), Options{TLS: mustLoad(t, c.dialer)})
				if err != nil {
					t.Fatal(err)
				}
				var dialerErr, serverErr error
				if opts := (Options{Token: token}); dialOut {
					serverErr, dialerErr = meet(t, <-accepted, dialed, opts, opts)
				} else {
					dialerErr, serverErr = meet(t, dialed, <-accepted, opts, opts)
				}
				if c.dialerSays == "" {
					if err := errors.Join(dialerErr, serverErr); err != nil {
						t.Error(err)
					}
					return
				}
				checkHandshakeError(t, dialerErr, ReasonTLS, []string{c.dialerSays, "--tls-ca"})
				checkHandshakeError(t, serverErr, ReasonTLS, []string{c.serverSays})
			})
		}
	}
}

func TestTLSListenerNeedsSecrets(t *testing.T) {
	ca := newAuthority(t)
	good := ca.issue(t, "good", time.Hour)
	checked := good
	checked.CA = ca.CA
	token := mustToken(t, rightToken)
	for _, c := range []struct {
		name string
		opts Options
		is   error
		says string
	}{
		{"nothing", Options{}, nil, "--tls-cert"},
		{"token alone", Options{Token: token}, nil, "--tls-cert"},
		{"certificate alone", Options{TLS: mustLoad(t, good)}, ErrTokenNeeded, "--token-file"},
		{"certificate and token", Options{TLS: mustLoad(t, good), Token: token}, nil, ""},
		{"certificates of both", Options{TLS: mustLoad(t, checked)}, nil, ""},
	} {
		l, err := Listen(testContext(t), Address{SchemeTLS, "127.0.0.1:0"}, c.opts)
		if err == nil {
			l.Close()
		}
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.says)
		}
	}
}

// TestNotTLS lets each kind of listener meet what is for the other.
func TestNotTLS(t *testing.T) {
	ca := newAuthority(t)
	token := mustToken(t, rightToken)
	opts := Options{TLS: mustLoad(t, ca.issue(t, "good", time.Hour)), Token: token}
	for _, c := range []struct {
		name, kind, says string
		reason           Reason
		play             func(net.Conn)
	}{
		{"HTTP to tls:", SchemeTLS, `does not speak TLS: it sent "GET /"`, ReasonNotExecagent, func(c net.Conn) { io.WriteString(c, "GET / HTTP/1.1\r\n\r\n") }},
		{"ours to tls:", SchemeTLS, `does not speak TLS`, ReasonNotExecagent, func(c net.Conn) { c.Write(helloBytes(clientMagic, clientHellos[0].text)) }},
		{"closed", SchemeTLS, `ended before`, ReasonClosed, func(c net.Conn) { c.Close() }},
		{"TLS 1.2 to tls:", SchemeTLS, `unsupported versions`, ReasonTLS, func(c net.Conn) {
			tls.Client(c, &tls.Config{MaxVersion: tls.VersionTLS12, InsecureSkipVerify: true}).Handshake()
		}},
		{"a browser to tls:", SchemeTLS, `application protocol`, ReasonTLS, func(c net.Conn) {
			tls.Client(c, &tls.Config{NextProtos: []string{"h2", "http/1.1"}, InsecureSkipVerify: true}).Handshake()
		}},
		{"TLS without a protocol", SchemeTLS, `does not know "execagent"`, ReasonNotExecagent, func(c net.Conn) {
			tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake()
		}},
		{"TLS to tcp:", SchemeTCP, "it speaks TLS", ReasonNotExecagent, func(c net.Conn) {
			tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := Listen(testContext(t), Address{c.kind, "127.0.0.1:0"}, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			played := make(chan struct{})
			go func() {
				defer close(played)
				c.play(conn)
			}()
			agentConn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			_, err = Server(testContext(t), agentConn, Options{Token: token})
			checkHandshakeError(t, err, c.reason, []string{c.says})
			conn.Close()
			<-played
		})
	}
}

func TestLoadTLSErrors(t *testing.T) {
	ca := newAuthority(t)
	good, other := ca.issue(t, "good", time.Hour), ca.issue(t, "other", time.Hour)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		files TLSFiles
		says  string
	}{
		{"no key", TLSFiles{Cert: good.Cert}, "go together"},
		{"no certificate", TLSFiles{Key: good.Key}, "go together"},
		{"missing", TLSFiles{Cert: "/no/such", Key: good.Key}, "/no/such"},
		{"key of another", TLSFiles{Cert: good.Cert, Key: other.Key}, "private key"},
		{"no authorities", TLSFiles{CA: empty}, "no certificate in PEM"},
		{"missing authorities", TLSFiles{CA: "/no/such"}, "/no/such"},
	} {
		if _, err := c.files.Load(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", c.name, err, c.says)
		}
	}
}
