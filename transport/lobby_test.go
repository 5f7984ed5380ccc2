// This file holds the tests of what bounds strangers in the handshake.

package transport

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// TestLobby lets many more strangers in than there is room for. The oldest leave, at once, and
// a right client gets in between them.
func TestLobby(t *testing.T) {
	const strangers = 3*MaxWaiting + 5
	token := mustToken(t, rightToken)
	l, err := Listen(testContext(t), Address{SchemeTCP, "127.0.0.1:0"}, Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accept := func() (peer net.Conn, ours net.Conn) {
		peer, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if ours, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		return peer, ours
	}
	errs := make([]chan error, strangers)
	var peers []io.Closer
	for i := range strangers {
		peer, ours := accept()
		peers = append(peers, peer)
		errs[i] = make(chan error, 1)
		go func() {
			_, err := Server(testContext(t), ours, Options{Token: token, HandshakeTimeout: time.Hour})
			errs[i] <- err
		}()
	}
	crowded := func(i int) {
		t.Helper()
		err := <-errs[i]
		checkHandshakeError(t, err, ReasonBusy, []string{"too many connections"})
		if !errors.Is(err, errCrowded) {
			t.Errorf("stranger %d: error %v, want errCrowded", i, err)
		}
	}
	for i := range strangers - MaxWaiting {
		crowded(i)
	}
	clientConn, agentConn := accept()
	dialed := &link{Conn: clientConn, kind: SchemeTCP, dialed: true}
	if err := errors.Join(meet(t, dialed, agentConn, Options{Token: token}, Options{Token: token})); err != nil {
		t.Errorf("a right client among strangers: %v", err)
	}
	crowded(strangers - MaxWaiting) // whose place it took
	for i, peer := range peers {
		peer.Close()
		if i > strangers-MaxWaiting {
			checkHandshakeError(t, <-errs[i], ReasonClosed, nil)
		}
	}
	if n := len(l.lobby.waiting); n != 0 {
		t.Errorf("%d are still waiting", n)
	}
}

// exhausted is a socket whose first accepts fail for want of descriptors.
type exhausted struct {
	net.Listener
	fails int
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.fails--; l.fails >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return nil, io.EOF
}

func (*exhausted) Close() error { return nil }

func TestAcceptOutlivesExhaustion(t *testing.T) {
	l := &Listener{socket: &exhausted{fails: 2}, closed: make(chan struct{})}
	if _, err := l.Accept(); err != io.EOF {
		t.Errorf("Accept: %v, want to come past the two failures to io.EOF", err)
	}
	l = &Listener{socket: &exhausted{fails: 1 << 30}, closed: make(chan struct{})}
	failed := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		failed <- err
	}()
	l.Close()
	if err := <-failed; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close: %v, want net.ErrClosed", err)
	}
}
