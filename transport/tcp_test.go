// This file holds the tests of TCP, and of what may be reached over it.

package transport

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
)

func TestTCPIsLoopbackOnly(t *testing.T) {
	token := mustToken(t, rightToken)
	for _, target := range []string{":0", "0.0.0.0:0", "[::]:0"} {
		a := Address{SchemeTCP, target}
		l, err := Listen(testContext(t), a, Options{Token: token})
		if err == nil {
			l.Close()
		}
		if !errors.Is(err, ErrInsecureTCP) || !strings.Contains(err.Error(), "--insecure-tcp") {
			t.Errorf("Listen(%s): error %v, want ErrInsecureTCP and the flag", a, err)
		}
		l, err = Listen(testContext(t), a, Options{Token: token, InsecureTCP: true})
		if err != nil {
			t.Errorf("Listen(%s) insisting: %v", a, err)
			continue
		}
		l.Close()
	}
	// 192.0.2.1 is nobody's (RFC 5737); the refusal must come before a packet is sent.
	_, err := DialConn(testContext(t), Address{SchemeTCP, "192.0.2.1:7"}, Options{})
	var dial *DialError
	if !errors.Is(err, ErrInsecureTCP) || !errors.As(err, &dial) {
		t.Errorf("DialConn: error %v, want a *DialError of ErrInsecureTCP", err)
	}
}

func TestTCPNeedsAToken(t *testing.T) {
	for _, a := range []Address{{SchemeTCP, "127.0.0.1:0"}, {SchemeVsock, "any:4294967000"}} {
		if err := listenError(a); !errors.Is(err, ErrTokenNeeded) || !strings.Contains(err.Error(), "--token-file") {
			t.Errorf("%s: error %v, want ErrTokenNeeded and the remedy", a, err)
		}
	}
}

func TestTCPAddress(t *testing.T) {
	opts := Options{Token: mustToken(t, rightToken)}
	l, err := Listen(testContext(t), Address{SchemeTCP, "localhost:0"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if got, want := l.Address().String(), "tcp:localhost:"+port; got != want {
		t.Errorf("Address = %s, want %s", got, want)
	}
	taken := Address{SchemeTCP, l.Addr().String()}
	if _, err := Listen(testContext(t), taken, opts); !errors.Is(err, ErrAddressInUse) {
		t.Errorf("listening there again: %v, want ErrAddressInUse", err)
	}
	l.Close()
	var dial *DialError
	if err := dialError(taken); !errors.As(err, &dial) || !strings.Contains(err.Error(), taken.String()) {
		t.Errorf("dialing where nobody is: %v, want a *DialError with the address", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := DialConn(ctx, taken, Options{}); !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "cancel") {
		t.Errorf("dialing cancelled: %v", err)
	}
}

// TestVsock listens where this machine can be, or is told why it cannot.
func TestVsock(t *testing.T) {
	opts := Options{Token: mustToken(t, rightToken)}
	for _, target := range []string{"4000000000:1", "1:1024"} { // a stranger's; our own, if the kernel has a loopback
		l, err := Listen(testContext(t), Address{SchemeVsock, target}, opts)
		if err != nil {
			if !strings.Contains(err.Error(), "/dev/vsock") || !strings.Contains(err.Error(), target) {
				t.Errorf("%s: error %v, want one that names the address and the device", target, err)
			}
			continue
		}
		l.Close()
	}
}
