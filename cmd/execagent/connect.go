//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/execagent/execagent/execagent"
	"github.com/execagent/execagent/transport"
)

// connect keeps the agent connected to a client that listens, until ctx ends. Then the commands
// are ended, their results sent, and the connection closed.
func connect(ctx context.Context, agent *execagent.Agent, text string, opts transport.Options) error {
	addr, err := transport.ParseAddress(text)
	if err != nil {
		return errors.Join(err, agent.Close())
	}
	fmt.Fprintf(os.Stderr, "execagent: connecting to %s\n", addr)
	closed := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { closed <- agent.Close() })
	err = transport.DialOut(ctx, addr, opts, func(conn io.ReadWriteCloser) error {
		return agent.ServeConn(context.Background(), conn)
	})
	if stop() {
		return errors.Join(err, agent.Close())
	}
	return errors.Join(err, <-closed)
}
