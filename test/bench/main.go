// Command bench measures execagent against the physical limits of the machine and against
// other programs that do the same work, and prints the figures as Markdown:
//
//	go run ./test/bench --codex          1 GiB of every kind of input, about half an hour;
//	                                     writes test/bench/RESULTS.md
//	go run ./test/bench --quick          64 MiB, prints only
//
// The machines this runs on are shared: a figure counts only as a ratio taken in one run. So
// every round runs every side once, the ratios are those of one round, and medians are
// quoted. The work is always the same: run "cat FILE", keep all output in a file, show a bounded
// view. Every side's work is checked each time, the files byte by byte.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/execagent/execagent/test/bench/gen"
)

const (
	fullSize  size = 1 << 30
	quickSize size = 64 << 20
	minRounds      = 5
)

// options are the command line.
type options struct {
	size   size
	rounds int
	quick  bool
	codex  bool
	input  gen.Kind // "" is all of them
	out    string   // "" prints only
}

func main() {
	if child, ok := limitChildren[argument(1)]; ok {
		exit(child(argument(2), argument(3)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, os.Args[1:], os.Stdout))
}

// argument returns an argument of the process, or "".
func argument(i int) string {
	if i < len(os.Args) {
		return os.Args[i]
	}
	return ""
}

func exit(err error) {
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	places, err := findPlaces()
	if err != nil {
		return err
	}
	opts, err := parseOptions(args, places.results)
	if err != nil {
		return err
	}
	work, err := newWorkshop(places, os.Stderr)
	if err != nil {
		return err
	}
	defer work.close()

	rep := report{machine: describeMachine(ctx), args: args, opts: opts, root: places.root}
	rep.runs, err = measureAll(ctx, opts, work, allSides(ctx, work, opts.codex))
	if err != nil {
		return err
	}
	if !opts.quick {
		rep.elsewhere = measureElsewhere(ctx, work)
	}
	text := rep.markdown()
	if _, err := io.WriteString(stdout, text); err != nil {
		return err
	}
	if opts.out != "" {
		if err := os.WriteFile(opts.out, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return rep.failure()
}

// parseOptions reads the command line; results is where a full run is recorded.
func parseOptions(args []string, results string) (options, error) {
	opts := options{size: fullSize, rounds: minRounds, out: results}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Var(&opts.size, "size", "bytes of input, such as 64MiB or 1GiB")
	flags.IntVar(&opts.rounds, "rounds", opts.rounds, "rounds, at least 5 for figures that count")
	flags.BoolVar(&opts.quick, "quick", false, "64 MiB unless --size says otherwise, printed but not recorded unless --out says so")
	flags.BoolVar(&opts.codex, "codex", false, "measure codex exec-server too (installs a large npm package)")
	flags.Func("input", "one kind of input (lines, oneline, colour, bars, mixed) instead of all", func(name string) error {
		kind, err := gen.ParseKind(name)
		opts.input = kind
		return err
	})
	flags.StringVar(&opts.out, "out", opts.out, "file for the Markdown")
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	if flags.NArg() > 0 {
		return opts, fmt.Errorf("unexpected arguments %q", strings.Join(flags.Args(), " "))
	}
	if opts.rounds < 1 {
		return opts, fmt.Errorf("--rounds %d: give 1 or more", opts.rounds)
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if opts.quick && !given["size"] {
		opts.size = quickSize
	}
	if opts.quick && !given["out"] {
		opts.out = ""
	}
	return opts, nil
}
