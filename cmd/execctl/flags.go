package main

// This file is what execctl run may be told.

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/spf13/pflag"
)

type runFlags struct {
	addr     string
	spillDir string
	json     bool

	id       string
	retain   string
	maxBytes int
	maxLines int
	timeout  time.Duration
	pipe     bool
	cwd      string
	env      []string
	noSpill  bool
	stdin    bool
}

func (f *runFlags) set() *pflag.FlagSet {
	fs := quietFlags("execctl run")
	fs.StringVar(&f.addr, "addr", os.Getenv("EXECAGENT_ADDR"), "address of the agent, such as unix:/run/execagent.sock")
	fs.StringVar(&f.spillDir, "spill-dir", "", "without --addr: directory for complete outputs (default: in the user's state directory)")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line: start, batch…, result")
	fs.StringVar(&f.id, "id", "", "name of the execution (default: a random one)")
	fs.StringVar(&f.retain, "retain", "tail", "which end of the output to show, head or tail")
	fs.IntVar(&f.maxBytes, "max-bytes", 0, fmt.Sprintf("most bytes to show (default %d)", limits.DefaultMaxBytes))
	fs.IntVar(&f.maxLines, "max-lines", 0, fmt.Sprintf("most lines to show (default %d)", limits.DefaultMaxLines))
	fs.DurationVar(&f.timeout, "timeout", 0, "end the command after so long, such as 90s or 5m (default never)")
	fs.BoolVar(&f.pipe, "pipe", false, "give the command a pipe instead of a terminal")
	fs.StringVar(&f.cwd, "cwd", "", "working directory (default: the agent's)")
	fs.StringArrayVarP(&f.env, "env", "e", nil, "set a variable, NAME=VALUE; may be repeated")
	fs.BoolVar(&f.noSpill, "no-spill", false, "keep no file of the complete output")
	fs.BoolVar(&f.stdin, "stdin", false, "pass execctl's own standard input to the command")
	fs.Lookup("retain").DefValue = ""
	fs.Lookup("addr").DefValue = "" // it may come from the environment
	return fs
}

// parse returns the spec that the arguments ask for.
func (f *runFlags) parse(args []string) (client.Spec, error) {
	fs := f.set()
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return client.Spec{}, err
		}
		return client.Spec{}, fmt.Errorf("%w (see execctl --help)", err)
	}
	if fs.NArg() == 0 {
		return client.Spec{}, errors.New("run: give a command after --, such as: execctl run -- 'seq 1 100000'")
	}
	if f.addr != "" && f.spillDir != "" {
		return client.Spec{}, errors.New("--spill-dir is for execctl's own agent: the one at --addr has its own, given to execagent serve")
	}
	spec := client.Spec{
		ID:      f.id,
		Command: strings.Join(fs.Args(), " "),
		Cwd:     f.cwd,
		Env:     f.env,
		Limits:  limits.Limits{MaxBytes: f.maxBytes, MaxLines: f.maxLines, Retain: limits.Retain(f.retain)},
		NoSpill: f.noSpill,
		Timeout: f.timeout,
		Pipe:    f.pipe,
	}
	if f.stdin {
		spec.Stdin = client.StdinPipe
	}
	if spec.ID == "" && !fs.Changed("id") {
		spec.ID = client.NewID()
	}
	_, err := spec.Check()
	return spec, err
}
