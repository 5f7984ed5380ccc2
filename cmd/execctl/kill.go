package main

// This file ends commands, and sends them signals.

import (
	"context"
	"errors"
	"fmt"

	"github.com/execagent/execagent/client"
	"github.com/spf13/pflag"
)

// kill asks the agent to end commands: SIGTERM, after their grace SIGKILL. It goes on after one
// that is unknown.
func kill(ctx context.Context, args []string) (int, error) {
	conn, ids, err := reachArgs(ctx, "kill", args)
	if err != nil {
		return 0, err
	}
	if len(ids) == 0 {
		return 0, errors.Join(errors.New("kill: give an ID or more; execctl ps lists them"), conn.Close())
	}
	for _, id := range ids {
		err = errors.Join(err, conn.Cancel(ctx, id))
	}
	return 0, errors.Join(err, conn.Close())
}

// sendSignal sends one command one signal.
func sendSignal(ctx context.Context, args []string) (int, error) {
	conn, args, err := reachArgs(ctx, "signal", args)
	if err != nil {
		return 0, err
	}
	if len(args) != 2 {
		return 0, errors.Join(fmt.Errorf("signal: give an ID and a signal, such as INT, not %d arguments", len(args)), conn.Close())
	}
	return 0, errors.Join(conn.Signal(ctx, args[0], args[1]), conn.Close())
}

// reachArgs connects to the agent that the flags name, and returns the other arguments.
func reachArgs(ctx context.Context, verb string, args []string) (*reached, []string, error) {
	fs := pflag.NewFlagSet("execctl "+verb, pflag.ContinueOnError)
	fs.Usage = func() {}
	var p place
	p.set(fs)
	if err := parseFlags(fs, args); err != nil {
		return nil, nil, err
	}
	conn, err := reach(ctx, verb, fs, &p, client.Options{})
	return conn, fs.Args(), err
}
