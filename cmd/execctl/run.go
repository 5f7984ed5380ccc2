package main

// This file runs one command from start to exit code.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/client/embed"
	"golang.org/x/term"
)

// connection is what run needs of an agent, near or far.
type connection interface {
	Start(context.Context, client.Spec) (*client.Command, error)
	StartTerminal(context.Context, client.Spec) (*client.Terminal, error)
	StartStream(context.Context, client.Spec) (*client.Stream, error)
	WireBytes() int64
	Close() error
}

// reporter shows an execution as it goes.
type reporter interface {
	// batch is called after each batch is folded into the view.
	batch(b client.Batch, v client.View) error
	// result is called once, unless there is none.
	result(r *client.Result, v client.View) error
	// stop is called last in any case.
	stop()
}

func run(ctx context.Context, args []string) (code int, err error) {
	var f runFlags
	spec, err := f.parse(args)
	if err != nil {
		return 0, err
	}
	n := newNews()
	conn, err := connect(ctx, &f.place, f.spillDir, client.Options{Reconnect: f.reconnect, OnStatus: n.tell})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if f.interactive {
		return runInteractive(ctx, conn, n, &f, spec)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer onHangup(cancel)()
	cmd, err := conn.Start(ctx, spec)
	if err != nil {
		return 0, err
	}
	if f.stdin {
		// Nobody waits for this: a read of our own stdin cannot be interrupted, and the
		// process ends soon after the command.
		go func() {
			_, _ = io.Copy(cmd.Stdin(), os.Stdin)
			_ = cmd.Stdin().Close()
		}()
	}
	return follow(cmd, newReporter(f.json, conn, n, cmd), func() { _ = cmd.Cancel(ctx) })
}

// connect reaches the agent at a place, or makes one if there is none.
func connect(ctx context.Context, p *place, spillDir string, opts client.Options) (connection, error) {
	if !p.own() {
		return p.dial(ctx, opts)
	}
	opts.Software = software()
	return embed.Dial(ctx, embed.Options{SpillDir: spillDir, Client: opts})
}

// runInteractive runs a command on execctl's own terminal.
func runInteractive(ctx context.Context, conn connection, n *news, f *runFlags, spec client.Spec) (int, error) {
	l := newLocal(os.Stdin, os.Stdout)
	if columns, rows, ok := l.size(); ok {
		spec.Columns, spec.Rows = columns, rows
	}
	if name := os.Getenv("TERM"); name != "" {
		spec.Env = append([]string{"TERM=" + name}, spec.Env...) // what was asked for counts last
	}
	keys, err := parseKeys(f.detachKeys)
	if err != nil {
		return 0, err
	}
	remote, err := conn.StartTerminal(ctx, spec)
	if err != nil {
		return 0, err
	}
	j := joint{local: l, remote: remote, keys: keys, embedded: f.own()}
	n.to(j.news)
	return j.join(ctx)
}

func newReporter(json bool, conn connection, n *news, cmd *client.Command) reporter {
	switch {
	case json:
		return &jsonReporter{out: os.Stdout, conn: conn, started: cmd.Started()}
	case term.IsTerminal(int(os.Stdout.Fd())):
		s := newScreen(os.Stdout)
		n.to(s.news)
		return s
	}
	return &textReporter{out: os.Stdout}
}

// follow reports the execution to its end and returns its exit code. When it cannot report
// any more it calls giveUp, and waits for the end: nobody would see the rest.
func follow(cmd *client.Command, rep reporter, giveUp func()) (int, error) {
	defer rep.stop()
	var failed error
	for batch, err := range cmd.Batches() {
		if err != nil {
			return 0, err
		}
		if failed == nil {
			if failed = rep.batch(batch, cmd.View()); failed != nil {
				giveUp()
			}
		}
	}
	result, err := cmd.Wait()
	if err != nil {
		return 0, err
	}
	if failed == nil {
		failed = rep.result(result, cmd.View())
	}
	if failed != nil {
		return 0, fmt.Errorf("writing the output: %w", failed)
	}
	return result.ExitCode, nil
}
