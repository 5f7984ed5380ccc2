// This file holds the tests of sessions: loss, closing, dead peers, many streams.

package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"
)

func connect2(t testing.TB, clientOpts, agentOpts Options) (client, agent *Session) {
	t.Helper()
	c, a := Pipe()
	return connect(t, c, a, clientOpts, agentOpts)
}

// TestLostConnectionIsNoEnd cuts the connection in every way and wants to read
// anything but io.EOF.
func TestLostConnectionIsNoEnd(t *testing.T) {
	for name, cut := range map[string]func(client *Session){
		"peer closes its session": func(c *Session) { c.Close() },
		"connection breaks":       func(c *Session) { c.wire.conn.Close() },
		"peer talks nonsense":     func(c *Session) { c.wire.Write(logText(2 * maxRecord)) },
	} {
		t.Run(name, func(t *testing.T) {
			client, agent := connectUnix(t, Options{}, Options{})
			ours, theirs := openPair(t, client, agent)
			mustWrite(t, ours, 1, "x")
			mustRead(t, theirs, 1, "x")
			cut(client)
			<-agent.Done()
			for what, err := range map[string]error{
				"ReadFrame":  second(theirs.ReadFrame()),
				"WriteFrame": theirs.WriteFrame(1, nil),
				"Accept":     acceptError(t, agent),
				"Open":       openError(t, agent),
				"Err":        agent.Err(),
			} {
				if !errors.Is(err, ErrSessionClosed) || errors.Is(err, io.EOF) {
					t.Errorf("%s: %v, want ErrSessionClosed", what, err)
				}
			}
		})
	}
}

func acceptError(t testing.TB, s *Session) error {
	_, err := s.Accept(testContext(t))
	return err
}

func openError(t testing.TB, s *Session) error {
	_, err := s.Open(testContext(t))
	return err
}

// TestCloseUnderTraffic closes one side while many streams run both ways.
// Nothing may hang, leak or be mistaken for an end.
func TestCloseUnderTraffic(t *testing.T) {
	for _, c := range conns {
		for _, closer := range []string{"client", "agent", "both"} {
			t.Run(c.name+"/"+closer, func(t *testing.T) {
				a, b := c.make(t)
				client, agent := connect(t, a, b, Options{}, Options{})
				served := make(chan struct{})
				go func() {
					defer close(served)
					serveEcho(agent)
				}()
				var traffic sync.WaitGroup
				warm := make(chan struct{}, 8)
				for i := range cap(warm) {
					traffic.Go(func() { pingPong(t, client, i, warm) })
				}
				for range cap(warm) {
					<-warm
				}
				if closer != "agent" {
					traffic.Go(func() { client.Close() })
				}
				if closer != "client" {
					traffic.Go(func() { agent.Close() })
				}
				traffic.Wait()
				<-served
				<-client.Done()
				<-agent.Done()
			})
		}
	}
}

// pingPong sends and receives until the session ends.
func pingPong(t *testing.T, s *Session, i int, warm chan<- struct{}) {
	st, err := s.Open(context.Background())
	if err != nil {
		t.Errorf("stream %d: %v", i, err)
		warm <- struct{}{}
		return
	}
	defer st.Close()
	payload := noise(1 + i*12000)
	if i%2 == 0 {
		payload = logText(1 + i*4000)
	}
	for n := 0; ; n++ {
		if n == 3 {
			warm <- struct{}{}
		}
		err := st.WriteFrame(Kind(i), payload)
		if err == nil {
			var got []byte
			if _, got, err = st.ReadFrame(); err == nil && !bytes.Equal(got, payload) {
				t.Errorf("stream %d: %d bytes came back for %d", i, len(got), len(payload))
			}
		}
		if err == nil {
			continue
		}
		if n < 3 || !errors.Is(err, ErrSessionClosed) {
			t.Errorf("stream %d, round %d: %v, want ErrSessionClosed after round 3", i, n, err)
		}
		return
	}
}

// TestDeadPeerIsDropped has peers that stop taking bytes, or stop answering.
func TestDeadPeerIsDropped(t *testing.T) {
	fast := Options{clocks: clocks{keepAlive: 20 * time.Millisecond, write: 50 * time.Millisecond, close: time.Second}}
	t.Run("no answer", func(t *testing.T) {
		s, peer := sessionWithDummy(t, fast)
		defer peer.Close()
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			io.Copy(io.Discard, peer)
		}()
		<-s.Done()
		<-drained
		if err := s.Err(); !errors.Is(err, ErrSessionClosed) {
			t.Errorf("Err = %v", err)
		}
	})
	t.Run("takes nothing", func(t *testing.T) {
		slow := fast
		slow.clocks.keepAlive = time.Hour
		s, peer := sessionWithDummy(t, slow)
		defer peer.Close()
		st, err := s.Open(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if err := st.WriteFrame(1, noise(2*pipeBuffer)); !errors.Is(err, ErrSessionClosed) {
			t.Errorf("WriteFrame: %v, want ErrSessionClosed", err)
		}
		<-s.Done()
	})
}

// sessionWithDummy is an agent's session whose client said its hello and then
// is up to the test.
func sessionWithDummy(t *testing.T, opts Options) (*Session, io.ReadWriteCloser) {
	t.Helper()
	conn, agentConn := Pipe()
	if _, err := conn.Write(helloBytes(clientMagic, clientHellos[0].text)); err != nil {
		t.Fatal(err)
	}
	s, err := Server(testContext(t), agentConn, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, conn
}

func TestKeepAliveKeepsAlive(t *testing.T) {
	fast := Options{clocks: clocks{keepAlive: time.Millisecond, write: time.Minute, close: time.Minute}}
	c, a := Pipe()
	counted := &countedConn{ReadWriteCloser: c, left: 100 * 12, reached: make(chan struct{})} // a ping is 12 bytes
	client, agent := connect(t, counted, a, fast, fast)
	select {
	case <-counted.reached:
	case <-client.Done():
		t.Fatalf("session ended: %v", client.Err())
	case <-agent.Done():
		t.Fatalf("session ended: %v", agent.Err())
	case <-testContext(t).Done():
		t.Fatal("no sign of life in a minute")
	}
}

// countedConn closes reached when left bytes were read.
type countedConn struct {
	io.ReadWriteCloser
	left    int
	reached chan struct{}
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.ReadWriteCloser.Read(p)
	if before := c.left; before > 0 {
		if c.left -= n; c.left <= 0 {
			close(c.reached)
		}
	}
	return n, err
}

func TestContexts(t *testing.T) {
	client, agent := connectPipe(t)
	ctx, cancel := context.WithCancel(context.Background())
	accepted := make(chan error, 1)
	go func() {
		_, err := agent.Accept(ctx)
		accepted <- err
	}()
	cancel()
	if err := <-accepted; !errors.Is(err, context.Canceled) {
		t.Errorf("Accept: %v, want context.Canceled", err)
	}
	for range acceptBacklog {
		if _, err := client.Open(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel = context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := client.Open(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open of stream %d, none accepted: %v, want context.DeadlineExceeded", acceptBacklog+1, err)
	}
}

// TestManyStreams opens far more than the backlog at once.
func TestManyStreams(t *testing.T) {
	client, agent := connectUnix(t, Options{}, Options{})
	served := make(chan struct{})
	go func() {
		defer close(served)
		serveEcho(agent)
	}()
	var wg sync.WaitGroup
	for i := range 4 * acceptBacklog {
		wg.Go(func() {
			st, err := client.Open(testContext(t))
			if err != nil {
				t.Errorf("stream %d: %v", i, err)
				return
			}
			defer st.Close()
			if err := st.WriteFrame(1, []byte{byte(i), byte(i >> 8)}); err != nil {
				t.Errorf("stream %d: %v", i, err)
			}
			if _, payload, err := st.ReadFrame(); err != nil || !bytes.Equal(payload, []byte{byte(i), byte(i >> 8)}) {
				t.Errorf("stream %d: %v, %v", i, payload, err)
			}
		})
	}
	wg.Wait()
	client.Close()
	<-served
}
