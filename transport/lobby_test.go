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
	var lobby Lobby
	opts := Options{Lobby: &lobby, HandshakeTimeout: time.Hour}
	const strangers = 3*MaxWaiting + 5
	errs := make(chan error, strangers)
	var peers []io.Closer
	for range strangers {
		peer, ours := Pipe()
		peers = append(peers, peer)
		go func() {
			_, err := Server(testContext(t), ours, opts)
			errs <- err
		}()
	}
	for range strangers - MaxWaiting {
		err := <-errs
		checkHandshakeError(t, err, ReasonBusy, []string{"too many connections"})
		if !errors.Is(err, errCrowded) {
			t.Errorf("error %v, want errCrowded", err)
		}
	}
	clientConn, agentConn := Pipe()
	if err := errors.Join(meet(t, clientConn, agentConn, Options{}, opts)); err != nil {
		t.Errorf("a right client among strangers: %v", err)
	}
	<-errs // it took the place of one
	for _, peer := range peers {
		peer.Close()
	}
	for range MaxWaiting - 1 {
		checkHandshakeError(t, <-errs, ReasonClosed, nil)
	}
	if n := len(lobby.waiting); n != 0 {
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
