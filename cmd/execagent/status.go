//go:build linux

package main

// This file asks an agent that runs how it is doing.

import (
	"context"
	"errors"
	"os"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/internal/status"
	"github.com/execagent/execagent/internal/version"
	"github.com/execagent/execagent/transport"
	"github.com/spf13/pflag"
)

type statusFlags struct {
	json   bool
	health bool
}

func (f *statusFlags) set(fs *pflag.FlagSet) {
	fs.BoolVar(&f.json, "json", false, "status: print one JSON object a line, the agent's first")
	fs.BoolVar(&f.health, "health", false, "status: print nothing if the agent answers within 5 s and takes commands; else fail")
}

// check refuses the flags beside another verb.
func (f *statusFlags) check(verb string) error {
	if verb != "status" && (f.json || f.health) {
		return &usageError{"--json and --health are for status, not for " + verb}
	}
	return nil
}

// show asks the agent at addr, or the one that the environment names.
func (f *statusFlags) show(ctx context.Context, addr string, opts transport.Options) (err error) {
	if addr == "" {
		addr = os.Getenv("EXECAGENT_ADDR")
	}
	if addr == "" {
		return &usageError{"status needs the agent's address, such as unix:/run/execagent.sock, or EXECAGENT_ADDR"}
	}
	conn, err := client.Dial(ctx, addr, client.Options{
		Software:    "execagent status " + version.String(),
		Token:       opts.Token,
		TLS:         opts.TLS,
		InsecureTCP: opts.InsecureTCP,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if f.health {
		return status.Check(ctx, conn)
	}
	return status.Show(ctx, conn, os.Stdout, f.json)
}
