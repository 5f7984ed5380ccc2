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
	"runtime"
	"syscall"

	"github.com/execagent/execagent/execagent"
	"github.com/execagent/execagent/internal/hygiene"
	"github.com/execagent/execagent/internal/version"
	"github.com/execagent/execagent/transport"
	"github.com/spf13/pflag"
)

const usage = `execagent runs commands for clients that connect to it.

  execagent serve --listen ADDRESS   serve clients there; may be repeated
  execagent connect ADDRESS          serve the client that listens there, dialing it again and again
  execagent stdio                    serve one client on stdin and stdout
  execagent status [ADDRESS]         say how the agent that runs there is doing; --health: only whether
  execagent version                  print the version

An address is unix:PATH, tcp:HOST:PORT (loopback), tls:HOST:PORT, vsock:CID:PORT or, from a
socket unit, systemd:. A client may run any command that execagent's user may. A unix socket
admits that user and root only; the others ask for a token or, with TLS, a certificate.

`

const (
	exitFailed = 1 // the agent could not serve
	exitUsage  = 2 // the arguments are wrong
)

// minProcs is how many processors Go's scheduler is to have at least. A command that floods keeps
// up to two busy, and while none is idle nobody looks at the network but every 10 ms: a
// keystroke beside eight floods, on two cores, took 2.8 ms to echo with two and 0.9 ms with four
// (medians of four runs in one series). A flood alone takes as long with four.
const minProcs = 4

func main() {
	if runtime.GOMAXPROCS(0) < minProcs && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(minProcs)
	}
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
	listen := flags.StringArray("listen", nil, "address to serve on, such as unix:PATH; may be repeated")
	var spills spillFlags
	spills.set(flags)
	var secrets secretFlags
	secrets.set(flags)
	profiles := flags.String("pprof", "", "unix:PATH to hand out profiles on: printf 'cpu 10\\n' | nc -U PATH > cpu.pb.gz")
	var asked statusFlags
	asked.set(flags)
	verbose := flags.BoolP("verbose", "v", false, "log connections")
	flags.Usage = func() { fmt.Printf("%sFlags:\n%s", usage, flags.FlagUsages()) }
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return &usageError{err.Error()}
	}
	verb, err := checkVerb(flags.Args(), *listen)
	if err != nil {
		return err
	}
	if err := asked.check(verb); err != nil {
		return err
	}
	bounds, err := spills.options()
	if err != nil {
		return err
	}
	var opts transport.Options
	if verb != "version" {
		if opts, err = secrets.options(); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if verb == "status" {
		return asked.show(ctx, flags.Arg(1), opts)
	}
	level := slog.LevelWarn
	if *verbose {
		level = slog.LevelDebug
	}
	opts.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	agent, err := execagent.New(execagent.Options{
		Daemon:   true,
		SpillDir: spills.dir,
		Spill:    bounds,
		Software: "execagent " + version.String(),
		Logger:   opts.Logger,
		Token:    opts.Token,
	})
	if err != nil {
		return err
	}
	if *profiles != "" {
		end, err := serveProfiles(ctx, *profiles, opts)
		if err != nil {
			return errors.Join(err, agent.Close())
		}
		defer end()
	}
	switch verb {
	case "serve":
		return serve(ctx, agent, *listen, opts)
	case "connect":
		return connect(ctx, agent, flags.Arg(1), opts)
	case "stdio":
		return errors.Join(agent.ServeConn(ctx, transport.Stdio()), agent.Close())
	}
	fmt.Printf("execagent %s\nkill method: %s\n", version.String(), agent.KillMethod())
	return agent.Close()
}

// checkVerb returns the first argument, once all of them make sense.
func checkVerb(args, listen []string) (verb string, err error) {
	const verbs = "give one of serve, connect, stdio, status, version"
	if len(args) == 0 {
		return "", &usageError{verbs}
	}
	verb = args[0]
	want, most := 1, 1
	switch verb {
	case "serve":
		if len(listen) == 0 {
			return "", &usageError{"serve needs --listen, such as --listen unix:/run/execagent.sock"}
		}
	case "connect":
		want, most = 2, 2
	case "status":
		most = 2
	case "stdio", "version":
	default:
		return "", &usageError{fmt.Sprintf("unknown command %q: %s", verb, verbs)}
	}
	switch {
	case verb != "serve" && len(listen) > 0:
		return "", &usageError{"--listen is for serve, not for " + verb}
	case len(args) < want:
		return "", &usageError{"connect needs the address where the client listens, such as tls:HOST:PORT"}
	case len(args) > most:
		return "", &usageError{fmt.Sprintf("%s: %q is one argument too many", verb, args[most])}
	}
	return verb, nil
}
