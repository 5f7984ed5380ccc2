package client

// This file is one byte stream to an agent: a session, its control stream and the replies on it.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/execagent/execagent/transport"
	"github.com/execagent/execagent/transport/protocol"
)

// link is a connection as long as it lasts. Whoever made it closes it.
type link struct {
	session *transport.Session
	control *transport.Stream
	number  int           // of a Conn's links, from 0 on
	done    chan struct{} // closed when nothing more will be received

	mu       sync.Mutex // guards the rest; not held across I/O
	watchers uint64     // numbers given out
	requests uint64     // the same for requests
	waiting  map[uint64]chan protocol.Reply
	inputs   map[uint64]*stdin // by watcher
	lost     error             // why nothing more will be received
}

// dialLink makes a byte stream and a link over it.
func dialLink(ctx context.Context, connect ConnectFunc, opts Options) (*link, error) {
	conn, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	return newLink(ctx, conn, opts)
}

// newLink shakes hands over conn, which it owns from the call on.
func newLink(ctx context.Context, conn io.ReadWriteCloser, opts Options) (*link, error) {
	s, err := transport.Client(ctx, conn, opts.transport())
	if err != nil {
		return nil, err
	}
	control, err := s.Open(ctx)
	if err == nil {
		err = control.WriteFrame(protocol.KindOpen, protocol.Encode(protocol.Open{Type: protocol.OpenControl}))
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	l := &link{
		session: s,
		control: control,
		done:    make(chan struct{}),
		waiting: make(map[uint64]chan protocol.Reply),
		inputs:  make(map[uint64]*stdin),
	}
	go l.receive() // close waits for it
	return l, nil
}

// close ends the link and waits for its goroutine. It may be called more than once.
func (l *link) close() {
	l.session.Close()
	<-l.done
}

func (l *link) instance() string { return l.session.Peer().Instance }

func (l *link) wireBytes() int64 { return l.session.BytesRead() + l.session.BytesWritten() }

// ended reports whether the link is of no more use.
func (l *link) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return l.session.Err() != nil
	}
}

// err returns why the link ended, nil if it has not.
func (l *link) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return l.lost
	}
	return l.session.Err()
}

// watch numbers a watcher whose writer of stdin may be told something.
func (l *link) watch(in *stdin) (watcher uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watchers++
	l.inputs[l.watchers] = in
	return l.watchers
}

// forget says that nobody follows by this watcher any more.
func (l *link) forget(watcher uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.inputs, watcher)
}

// ask sends a request and waits for its reply. A refusal is a [*Failure].
func (l *link) ask(ctx context.Context, r protocol.Request) (*protocol.Reply, error) {
	reply := make(chan protocol.Reply, 1)
	seq, err := l.expect(reply)
	if err != nil {
		return nil, err
	}
	defer l.unexpect(seq)
	r.Seq = seq
	if err := l.send(&r); err != nil {
		return nil, err
	}
	select {
	case got, ok := <-reply:
		switch {
		case !ok:
			return nil, l.err()
		case got.Failure != nil:
			return nil, got.Failure
		}
		return &got, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// expect numbers a request and has its reply sent to the channel, which is closed instead when
// none will come.
func (l *link) expect(reply chan protocol.Reply) (seq uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		return 0, l.lost
	}
	l.requests++
	l.waiting[l.requests] = reply
	return l.requests, nil
}

func (l *link) unexpect(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, seq)
}

// acknowledge tells the agent how much a watcher has taken: batches, or bytes of raw output.
func (l *link) acknowledge(watcher uint64, count int) {
	// If this fails the session is over, and the watcher's own stream says so.
	_ = l.send(&protocol.Request{Type: protocol.RequestAck, Watcher: watcher, Count: count})
}

func (l *link) send(r *protocol.Request) error {
	return l.control.WriteFrame(protocol.KindRequest, protocol.Encode(r))
}

// receive hands replies and notices to those concerned, until the control stream ends.
func (l *link) receive() {
	err := l.receiveAll()
	if ended := l.session.Err(); ended != nil && !isFinal(err) {
		err = ended
	}
	l.control.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = err
	for _, reply := range l.waiting {
		close(reply)
	}
	clear(l.waiting)
	close(l.done)
}

func (l *link) receiveAll() error {
	for {
		kind, payload, err := l.control.ReadFrame()
		if err != nil {
			return err
		}
		switch kind {
		case protocol.KindReply:
			err = l.replied(payload)
		case protocol.KindNotice:
			err = l.noticed(payload)
		case protocol.KindFailure:
			err = decodeFailure(payload)
		default:
			err = fmt.Errorf("a frame of kind %d", kind)
		}
		if failure := (*Failure)(nil); errors.As(err, &failure) {
			return err
		} else if err != nil {
			return &ProtocolError{"reading replies", err}
		}
	}
}

func (l *link) replied(payload []byte) error {
	var r protocol.Reply
	if err := decode(payload, &r); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if reply := l.waiting[r.Seq]; reply != nil {
		reply <- r
		delete(l.waiting, r.Seq)
	}
	return nil
}

func (l *link) noticed(payload []byte) error {
	var n protocol.Notice
	if err := decode(payload, &n); err != nil {
		return err
	}
	l.mu.Lock()
	in := l.inputs[n.Watcher] // nil if nobody writes any more
	l.mu.Unlock()
	switch {
	case n.Failure == nil && n.Taken <= 0:
		return errors.New("a notice of nothing")
	case in == nil:
		return nil
	case n.Failure != nil:
		in.refuse(stdinError(n.Failure))
		return nil
	}
	return in.taken(n.Taken)
}
