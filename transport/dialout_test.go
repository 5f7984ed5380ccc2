// This file holds the tests of an agent that dials.

package transport

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"
)

// TestDialOut lets an agent find its client, lose it, and find it again.
func TestDialOut(t *testing.T) {
	token := mustToken(t, rightToken)
	l, err := Listen(testContext(t), Address{SchemeTCP, "127.0.0.1:0"}, Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(testContext(t))
	ended := make(chan error, 1)
	go func() {
		ended <- DialOut(ctx, l.Address(), Options{Token: token}, func(conn io.ReadWriteCloser) error {
			s, err := Server(ctx, conn, Options{Token: token, Instance: "it"})
			if err != nil {
				return err
			}
			defer s.Close()
			<-s.Done()
			return nil
		})
	}()
	for _, right := range []bool{true, false, true} { // the second time a stranger listens
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if !right {
			conn.Close()
			continue
		}
		s, err := Client(testContext(t), conn, Options{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Peer().Instance; got != "it" {
			t.Errorf("instance %q, want %q", got, "it")
		}
		s.Close()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("DialOut: %v, want nil when its context ends", err)
	}
}

func TestDialOutRefuses(t *testing.T) {
	serve := func(io.ReadWriteCloser) error { return errors.New("served") }
	for a, is := range map[Address]error{
		{SchemeTCP, "127.0.0.1:1"}: ErrTokenNeeded,
		{SchemeVsock, "2:1"}:       ErrTokenNeeded,
		{SchemeInproc, ""}:         ErrUnsupportedScheme,
		{"gopher", ""}:             ErrUnknownScheme,
	} {
		if err := DialOut(testContext(t), a, Options{}, serve); !errors.Is(err, is) {
			t.Errorf("%s: error %v, want %v", a, err, is)
		}
	}
}

// TestDialOutWaits ends while nobody is there.
func TestDialOutWaits(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	a := Address{SchemeUnix, t.TempDir() + "/nobody"}
	if err := DialOut(ctx, a, Options{}, nil); err != nil {
		t.Errorf("DialOut: %v, want nil when its context ends", err)
	}
}
