//go:build linux

package faults

// This file is the proxy: connections through it, and what happens to them.

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Kind is what happens at a byte of one direction.
type Kind string

const (
	// None passes everything.
	None Kind = ""
	// Cut closes both sides.
	Cut Kind = "cut"
	// Corrupt changes a bit of the byte, and passes it on with the rest.
	Corrupt Kind = "corrupt"
	// Stall passes nothing for a time, then everything.
	Stall Kind = "stall"
	// Swallow passes nothing more, and closes nothing: the other side seems to be there.
	Swallow Kind = "swallow"
)

// Fault is what happens to one direction of a connection.
type Fault struct {
	Kind Kind
	At   int64         // the bytes that pass before it
	For  time.Duration // how long a Stall takes

	Delay time.Duration // of every byte
	Rate  int           // bytes a second; 0 means no bound
}

// Plan is what happens to a connection: Up from client to agent, Down from agent to client.
type Plan struct{ Up, Down Fault }

// Proxy stands between clients and the agent at an address. Make one with [NewProxy]; whoever
// made it closes it.
type Proxy struct {
	network, address string
	ctx              context.Context
	stop             context.CancelFunc
	wg               sync.WaitGroup

	mu    sync.Mutex
	plans []Plan // of the next connections; then they pass
	down  bool
	links []*Link
}

// NewProxy returns a proxy to an agent, such as "unix", "/run/execagent.sock".
func NewProxy(network, address string) *Proxy {
	p := &Proxy{network: network, address: address}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Plan sets what happens to the next connections, one after the other.
func (p *Proxy) Plan(plans ...Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plans = plans
}

// Refuse makes new connections fail, or not.
func (p *Proxy) Refuse(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = yes
}

// Links returns the connections so far, the first first.
func (p *Proxy) Links() []*Link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*Link(nil), p.links...)
}

// CutAll cuts the connections there are.
func (p *Proxy) CutAll() {
	for _, l := range p.Links() {
		l.Cut()
	}
}

// Close cuts all connections and waits for them.
func (p *Proxy) Close() {
	p.stop()
	p.CutAll()
	p.wg.Wait()
}

// Connect makes a connection through the proxy and returns the client's end: one of a pair of
// sockets, so that it behaves as any connection does.
func (p *Proxy) Connect(ctx context.Context) (net.Conn, error) {
	p.mu.Lock()
	down := p.down
	var plan Plan
	if !down && len(p.plans) > 0 {
		plan, p.plans = p.plans[0], p.plans[1:]
	}
	p.mu.Unlock()
	if down {
		return nil, errors.New("faults: no route to the agent")
	}
	far, err := new(net.Dialer).DialContext(ctx, p.network, p.address)
	if err != nil {
		return nil, err
	}
	client, near, err := socketPair()
	if err != nil {
		far.Close()
		return nil, err
	}
	l := &Link{near: near, far: far, done: make(chan struct{})}
	p.mu.Lock()
	p.links = append(p.links, l)
	p.mu.Unlock()
	p.wg.Go(func() { l.run(p.ctx, plan) })
	return client, nil
}

// socketPair returns two ends of a connection. A socket of this kind delivers what was written
// before it was closed, whatever the other end had still to read: a cut is at its byte.
func socketPair() (client, near net.Conn, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	client, err = fileConn(fds[0])
	if err != nil {
		unix.Close(fds[1])
		return nil, nil, err
	}
	near, err = fileConn(fds[1])
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	return client, near, nil
}

func fileConn(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "socketpair")
	defer f.Close()
	return net.FileConn(f)
}
