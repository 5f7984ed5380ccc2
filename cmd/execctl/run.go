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
	"github.com/execagent/execagent/internal/version"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// connection is what run needs of an agent, near or far.
type connection interface {
	Start(context.Context, client.Spec) (*client.Command, error)
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
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Print(usage, "\nFlags of run:\n", new(runFlags).set().FlagUsages())
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	conn, err := connect(ctx, &f)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
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
	return follow(ctx, conn, cmd, newReporter(&f, conn, cmd))
}

func connect(ctx context.Context, f *runFlags) (connection, error) {
	opts := client.Options{Software: "execctl " + version.String()}
	if f.addr != "" {
		return client.Dial(ctx, f.addr, opts)
	}
	return embed.Dial(ctx, embed.Options{SpillDir: f.spillDir, Client: opts})
}

func newReporter(f *runFlags, conn connection, cmd *client.Command) reporter {
	switch {
	case f.json:
		return &jsonReporter{out: os.Stdout, conn: conn, started: cmd.Started()}
	case term.IsTerminal(int(os.Stdout.Fd())):
		return newScreen(os.Stdout)
	}
	return &textReporter{out: os.Stdout}
}

// follow reports the execution to its end and returns its exit code. When it cannot report
// any more, it ends the command: nobody would see the rest.
func follow(ctx context.Context, conn connection, cmd *client.Command, rep reporter) (int, error) {
	defer rep.stop()
	var failed error
	for batch, err := range cmd.Batches() {
		if err != nil {
			return 0, err
		}
		if failed == nil {
			if failed = rep.batch(batch, cmd.View()); failed != nil {
				_ = cmd.Cancel(ctx)
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
