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
  execctl run -i -- COMMAND         run one on this terminal, such as: execctl run -i bash
  execctl stream -- COMMAND         run one with all its input and output, as ssh HOST COMMAND does
  execctl attach ID                 follow a command that runs; an interactive one on this terminal
  execctl ps                        list what an agent runs and ran
  execctl spills                    list the complete outputs that an agent keeps
  execctl read --spill ID           print one, or of it --lines FROM:TO
  execctl status                    say how an agent is doing
  execctl kill ID...                end commands
  execctl signal ID SIGNAL          send a signal, such as INT
  execctl version                   print the version

Without --addr (or EXECAGENT_ADDR) execctl run and stream are their own agent: nothing has to
be set up.
The exit code is the command's, or 125 when execctl, the agent or the connection failed.
`

// exitFailed says that there is no exit code of the command to pass on.
const exitFailed = 125

func main() {
	nohup := signal.Ignored(syscall.SIGHUP)
	if err := hygiene.Clean(); err != nil {
		fmt.Fprintf(os.Stderr, "execctl: %v\n", err)
		os.Exit(exitFailed)
	}
	// Caught, not ignored: a command inherits what is ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if !nohup {
		catchHangups()
	}
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
	verb, args := args[0], args[1:]
	if f := verbs[verb]; f != nil {
		code, err := f(ctx, args)
		if errors.Is(err, pflag.ErrHelp) {
			printHelp()
			return 0, nil
		}
		return code, err
	}
	switch verb {
	case "version", "--version":
		fmt.Println("execctl", version.String())
		return 0, nil
	case "help", "--help", "-h":
		printHelp()
		return 0, nil
	}
	return 0, fmt.Errorf("unknown command %q (see execctl --help)", verb)
}

// verbs are what execctl can be told to do. A help flag is the error [pflag.ErrHelp].
var verbs = map[string]func(context.Context, []string) (exitCode int, err error){
	"run":    run,
	"stream": stream,
	"attach": attach,
	"ps":     ps,
	"spills": spills,
	"read":   read,
	"status": showStatus,
	"kill":   kill,
	"signal": sendSignal,
}

func printHelp() {
	fmt.Print(usage, "\nFlags of run:\n", new(runFlags).set().FlagUsages())
	fmt.Print("\nFlags of stream:\n", new(streamFlags).set().FlagUsages())
	fmt.Print("\nFlags of attach:\n", new(attachFlags).set().FlagUsages())
	fmt.Print("\nFlags of ps:\n", new(psFlags).set().FlagUsages())
	fmt.Print("\nFlags of spills:\n", new(spillsFlags).set().FlagUsages())
	fmt.Print("\nFlags of read:\n", new(readFlags).set().FlagUsages())
	fmt.Print("\nFlags of status:\n", new(statusFlags).set().FlagUsages())
}

func quietFlags(name string) *pflag.FlagSet {
	fs := pflag.NewFlagSet(name, pflag.ContinueOnError)
	fs.SetInterspersed(false) // what follows the command's name is the command's
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}
