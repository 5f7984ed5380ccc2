//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/execagent/execagent/execagent"
	"github.com/execagent/execagent/transport"
)

// serve serves all addresses until ctx ends or one of them fails. Then the commands are ended,
// their results sent, and the connections closed.
func serve(ctx context.Context, agent *execagent.Agent, addrs []string, opts transport.Options) error {
	listeners, err := listenAll(ctx, addrs, opts)
	if err != nil {
		return errors.Join(err, agent.Close())
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		fmt.Fprintf(os.Stderr, "execagent: serving on %s\n", l.Address())
		go func() { failed <- agent.Serve(l) }()
	}
	for n := len(listeners); n > 0; {
		select {
		case <-ctx.Done():
			ctx = context.Background()
			err = errors.Join(err, agent.Close())
		case e := <-failed:
			n--
			if e != nil {
				err = errors.Join(err, e, agent.Close())
			}
		}
	}
	return err
}

// listenAll listens on all addresses, or none.
func listenAll(ctx context.Context, addrs []string, opts transport.Options) ([]*transport.Listener, error) {
	var listeners []*transport.Listener
	for _, text := range addrs {
		l, err := listen(ctx, text, opts)
		if err != nil {
			for _, l := range listeners {
				err = errors.Join(err, l.Close())
			}
			return nil, err
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

func listen(ctx context.Context, text string, opts transport.Options) (*transport.Listener, error) {
	addr, err := transport.ParseAddress(text)
	if err != nil {
		return nil, err
	}
	return transport.Listen(ctx, addr, opts)
}
