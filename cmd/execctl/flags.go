package main

// This file is what execctl run may be told.

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/spf13/pflag"
)

type runFlags struct {
	place
	reconnect time.Duration
	spillDir  string
	json      bool

	id       string
	retain   string
	maxBytes int
	maxLines int
	timeout  time.Duration
	pipe     bool
	cwd      string
	env      []string
	noSpill  bool
	strict   bool
	rawText  bool
	stdin    bool
	leave    string
	alone    time.Duration

	interactive bool
	detachKeys  string
}

func (f *runFlags) set() *pflag.FlagSet {
	fs := quietFlags("execctl run")
	f.place.set(fs)
	reconnectFlag(fs, &f.reconnect)
	spillDirFlag(fs, &f.spillDir)
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
	fs.BoolVar(&f.rawText, "raw-text", false, "show the output as it is but for control characters: no line is rewritten, no escape sequence followed")
	fs.BoolVar(&f.strict, "spill-strict", false, "end the command when its complete output cannot be kept")
	fs.BoolVar(&f.stdin, "stdin", false, "pass execctl's own standard input to the command")
	fs.StringVar(&f.leave, "on-disconnect", "keep", "kill: end the command when no client follows it any more")
	fs.DurationVar(&f.alone, "disconnect-grace", 0, fmt.Sprintf("with --on-disconnect kill: how long it goes on without a client (default %v)", protocol.DefaultDisconnectGrace))
	fs.BoolVarP(&f.interactive, "interactive", "i", false, "give the command this terminal: prompts, job control, Ctrl-C")
	detachFlag(fs, &f.detachKeys)
	fs.Lookup("retain").DefValue, fs.Lookup("on-disconnect").DefValue = "", ""
	return fs
}

func reconnectFlag(fs *pflag.FlagSet, limit *time.Duration) {
	fs.DurationVar(limit, "reconnect", 10*time.Minute, "dial the agent again, or wait for one that dials, for so long when the connection breaks; 0 for not at all")
}

func spillDirFlag(fs *pflag.FlagSet, dir *string) {
	fs.StringVar(dir, "spill-dir", "", "without --addr: directory for complete outputs (default: in the user's state directory)")
}

// checkPlace refuses what does not go together, such as a spill directory for an agent that has
// its own.
func checkPlace(fs *pflag.FlagSet, p *place, spillDir string) error {
	if err := p.check(fs); err != nil {
		return err
	}
	if !p.own() && spillDir != "" {
		return errors.New("--spill-dir is for execctl's own agent: the one at --addr has its own, given to execagent serve")
	}
	return nil
}

func detachFlag(fs *pflag.FlagSet, keys *string) {
	fs.StringVar(keys, "detach-keys", "", "keys that leave an interactive command running, such as ctrl-p,ctrl-q (default: none; closing the terminal does it)")
	fs.Lookup("detach-keys").DefValue = ""
}

// parse returns the spec that the arguments ask for.
func (f *runFlags) parse(args []string) (client.Spec, error) {
	fs := f.set()
	if err := parseFlags(fs, args); err != nil {
		return client.Spec{}, err
	}
	if fs.NArg() == 0 {
		return client.Spec{}, errors.New("run: give a command after --, such as: execctl run -- 'seq 1 100000'")
	}
	if err := checkPlace(fs, &f.place, f.spillDir); err != nil {
		return client.Spec{}, err
	}
	spec := client.Spec{
		ID:      f.id,
		Command: strings.Join(fs.Args(), " "),
		Cwd:     f.cwd,
		Env:     f.env,
		Limits:  limits.Limits{MaxBytes: f.maxBytes, MaxLines: f.maxLines, Retain: limits.Retain(f.retain)},
		NoSpill: f.noSpill,

		SpillStrict: f.strict,
		Timeout:     f.timeout,
		Pipe:        f.pipe,
		RawText:     f.rawText,

		OnDisconnect:    protocol.OnDisconnect(f.leave),
		DisconnectGrace: f.alone,
	}
	if f.interactive {
		if err := f.checkInteractive(); err != nil {
			return client.Spec{}, err
		}
		spec.Interactive = true
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

func (f *runFlags) checkInteractive() error {
	switch {
	case f.json, f.stdin:
		return errors.New("run: --interactive is for a person: it does not go with --json and --stdin")
	case f.detachKeys != "" && f.own():
		return errors.New("run: --detach-keys needs --addr: without it the command ends with execctl, its agent")
	}
	_, err := parseKeys(f.detachKeys)
	return err
}

// parseFlags is fs.Parse with a remedy in its error.
func parseFlags(fs *pflag.FlagSet, args []string) error {
	err := fs.Parse(args)
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return fmt.Errorf("%w (see execctl --help)", err)
}
