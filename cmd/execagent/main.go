//go:build linux

// Command execagent runs commands for clients that connect to it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/execagent/execagent/execagent"
	"github.com/execagent/execagent/internal/hygiene"
	"github.com/execagent/execagent/internal/version"
	"github.com/execagent/execagent/transport"
	"github.com/spf13/pflag"
)

const usage = `execagent runs commands for clients that connect to it.

  execagent serve --listen unix:PATH [--spill-dir DIR]   serve clients on a socket
  execagent stdio [--spill-dir DIR]                      serve one client on stdin and stdout
  execagent version                                      print the version

A client may run any command that execagent's user may. A unix socket admits that user
and root only.

`

const (
	exitFailed = 1 // the agent could not serve
	exitUsage  = 2 // the arguments are wrong
)

func main() {
	if err := hygiene.Clean(); err != nil {
		fmt.Fprintf(os.Stderr, "execagent: %v\n", err)
		os.Exit(exitFailed)
	}
	err := run(os.Args[1:])
	if errors.Is(err, pflag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "execagent: %v\n", err)
		if ue := (*usageError)(nil); errors.As(err, &ue) {
			os.Exit(exitUsage)
		}
		os.Exit(exitFailed)
	}
}

// usageError is a mistake in the arguments.
type usageError struct{ problem string }

func (e *usageError) Error() string { return e.problem + " (see execagent --help)" }

func run(args []string) error {
	flags := pflag.NewFlagSet("execagent", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	listen := flags.StringArray("listen", nil, "address to serve on, unix:PATH; may be repeated")
	spillDir := flags.String("spill-dir", "", "directory for complete outputs (default: in the user's state directory)")
	verbose := flags.BoolP("verbose", "v", false, "log connections")
	flags.Usage = func() { fmt.Printf("%sFlags:\n%s", usage, flags.FlagUsages()) }
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return &usageError{err.Error()}
	}
	if flags.NArg() != 1 {
		return &usageError{"give one of serve, stdio, version"}
	}
	level := slog.LevelWarn
	if *verbose {
		level = slog.LevelDebug
	}
	agent, err := execagent.New(execagent.Options{
		Daemon:   true,
		SpillDir: *spillDir,
		Software: "execagent " + version.String(),
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	switch verb := flags.Arg(0); {
	case verb == "version":
		fmt.Printf("execagent %s\nkill method: %s\n", version.String(), agent.KillMethod())
		return agent.Close()
	case verb == "serve" && len(*listen) == 0:
		return &usageError{"serve needs --listen, such as --listen unix:/run/execagent.sock"}
	case verb == "serve":
		return serve(ctx, agent, *listen)
	case verb == "stdio" && len(*listen) > 0:
		return &usageError{"stdio serves stdin and stdout, not --listen"}
	case verb == "stdio":
		return errors.Join(agent.ServeConn(ctx, transport.Stdio()), agent.Close())
	default:
		return &usageError{fmt.Sprintf("unknown command %q: give one of serve, stdio, version", verb)}
	}
}
