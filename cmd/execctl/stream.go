package main

// This file runs a command with its whole input and output, byte for byte, for programs that
// speak a protocol with it.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/spf13/pflag"
)

type streamFlags struct {
	place
	spillDir string

	id      string
	stderr  bool
	cwd     string
	env     []string
	timeout time.Duration
	noSpill bool
}

func (f *streamFlags) set() *pflag.FlagSet {
	fs := quietFlags("execctl stream")
	f.place.set(fs)
	spillDirFlag(fs, &f.spillDir)
	fs.StringVar(&f.id, "id", "", "name of the execution (default: a random one)")
	fs.BoolVar(&f.stderr, "stderr", false, "keep stderr apart (default: it is in stdout)")
	fs.StringVar(&f.cwd, "cwd", "", "working directory (default: the agent's)")
	fs.StringArrayVarP(&f.env, "env", "e", nil, "set a variable, NAME=VALUE; may be repeated")
	fs.DurationVar(&f.timeout, "timeout", 0, "end the command after so long, such as 90s or 5m (default never)")
	fs.BoolVar(&f.noSpill, "no-spill", false, "keep no file of the complete output")
	return fs
}

// parse returns the spec that the arguments ask for.
func (f *streamFlags) parse(args []string) (client.Spec, error) {
	fs := f.set()
	if err := parseFlags(fs, args); err != nil {
		return client.Spec{}, err
	}
	if fs.NArg() == 0 {
		return client.Spec{}, errors.New("stream: give a command after --, such as: execctl stream -- 'tar cf - .'")
	}
	spec := client.Spec{
		ID:          f.id,
		Command:     strings.Join(fs.Args(), " "),
		Cwd:         f.cwd,
		Env:         f.env,
		Timeout:     f.timeout,
		NoSpill:     f.noSpill,
		SplitStderr: f.stderr,
	}
	return spec, checkPlace(fs, &f.place, f.spillDir)
}

func stream(ctx context.Context, args []string) (code int, err error) {
	var f streamFlags
	spec, err := f.parse(args)
	if err != nil {
		return 0, err
	}
	conn, err := connect(ctx, &f.place, f.spillDir, client.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer onHangup(cancel)()
	s, err := conn.StartStream(ctx, spec)
	if err != nil {
		return 0, err
	}
	// Nobody waits for this: a read of our own stdin cannot be interrupted, and the process
	// ends soon after the command.
	go func() {
		_, _ = io.Copy(s, os.Stdin) // that the command takes no more is its own affair
		_ = s.CloseWrite()
	}()
	if err := copyOutputs(s); err != nil {
		_ = s.Cancel(ctx) // nobody would see the rest
		return 0, errors.Join(err, s.Close())
	}
	result, err := s.Wait()
	if err != nil {
		return 0, err
	}
	explain(os.Stderr, result)
	return result.ExitCode, nil
}

// copyOutputs passes on stdout and stderr to their ends. The first that fails ends both.
func copyOutputs(s *client.Stream) error {
	errs := make(chan error, 2)
	pass := func(to *os.File, from io.Reader) {
		if _, err := io.Copy(to, from); err != nil {
			errs <- fmt.Errorf("passing on the output: %w", err)
			return
		}
		errs <- nil
	}
	go pass(os.Stdout, s)
	go pass(os.Stderr, s.Stderr()) // ends with the stream, which is closed if the other fails
	for range 2 {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}
