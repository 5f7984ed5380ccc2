package main

// This file lists executions, and shows how an agent is doing.

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/internal/status"
	"github.com/spf13/pflag"
)

type psFlags struct {
	place
	json bool
}

func (f *psFlags) set() *pflag.FlagSet {
	fs := quietFlags("execctl ps")
	f.place.set(fs)
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	return fs
}

func ps(ctx context.Context, args []string) (code int, err error) {
	var f psFlags
	fs := f.set()
	if err := parseFlags(fs, args); err != nil {
		return 0, err
	}
	if fs.NArg() > 0 {
		return 0, fmt.Errorf("ps: it takes no arguments, and %q is one", fs.Arg(0))
	}
	conn, err := reach(ctx, "ps", fs, &f.place, client.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	list, err := conn.List(ctx)
	if err != nil {
		return 0, err
	}
	print := status.Table
	if f.json {
		print = status.Lines
	}
	if err := print(os.Stdout, list.Executions); err != nil {
		return 0, fmt.Errorf("writing the list: %w", err)
	}
	if list.Omitted > 0 {
		fmt.Fprintf(os.Stderr, "execctl: %d older ones are not listed\n", list.Omitted)
	}
	return 0, nil
}

type statusFlags struct {
	place
	json   bool
	health bool
}

func (f *statusFlags) set() *pflag.FlagSet {
	fs := quietFlags("execctl status")
	f.place.set(fs)
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line, the agent's first")
	fs.BoolVar(&f.health, "health", false, "print nothing if the agent answers within 5 s and takes commands; else fail")
	return fs
}

// showStatus says how an agent is doing.
func showStatus(ctx context.Context, args []string) (code int, err error) {
	var f statusFlags
	fs := f.set()
	if err := parseFlags(fs, args); err != nil {
		return 0, err
	}
	if fs.NArg() > 0 {
		return 0, fmt.Errorf("status: it takes no arguments, and %q is one", fs.Arg(0))
	}
	conn, err := reach(ctx, "status", fs, &f.place, client.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if f.health {
		return 0, status.Check(ctx, conn.Conn)
	}
	return 0, status.Show(ctx, conn.Conn, os.Stdout, f.json)
}
