// Command execctl runs commands in an execagent and shows their bounded output.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/execagent/execagent/internal/hygiene"
	"github.com/execagent/execagent/internal/version"
	"github.com/spf13/pflag"
)

const usage = `execctl runs a command and shows a bounded view of its output; all of it is in a file.

  execctl run [flags] -- COMMAND    run a shell command
  execctl version                   print the version

Without --addr (or EXECAGENT_ADDR) execctl is its own agent: nothing has to be set up.
The exit code is the command's, or 125 when execctl, the agent or the connection failed.
`

// exitFailed says that there is no exit code of the command to pass on.
const exitFailed = 125

func main() {
	if err := hygiene.Clean(); err != nil {
		fmt.Fprintf(os.Stderr, "execctl: %v\n", err)
		os.Exit(exitFailed)
	}
	// Caught, not ignored: a command inherits what is ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := dispatch(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "execctl: %v\n", err)
		code = exitFailed
	}
	os.Exit(code)
}

func dispatch(ctx context.Context, args []string) (int, error) {
	if len(args) == 0 {
		return 0, errors.New("give a command, such as: execctl run -- 'seq 1 100000' (see execctl --help)")
	}
	switch verb := args[0]; verb {
	case "run":
		return run(ctx, args[1:])
	case "version", "--version":
		fmt.Println("execctl", version.String())
		return 0, nil
	case "help", "--help", "-h":
		fmt.Print(usage, "\nFlags of run:\n", new(runFlags).set().FlagUsages())
		return 0, nil
	default:
		return 0, fmt.Errorf("unknown command %q: give run or version (see execctl --help)", verb)
	}
}

func quietFlags(name string) *pflag.FlagSet {
	fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
	fs.SetInterspersed(false) // what follows the command's name is the command's
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}
