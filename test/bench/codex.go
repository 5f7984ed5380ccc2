// codex exec-server: a remote executor that keeps no bound and no file.

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// codexResult is what codex-exec-server.mjs prints.
type codexResult struct {
	Seconds     float64 `json:"seconds"`
	ExitCode    int     `json:"exitCode"`
	OutputBytes int64   `json:"outputBytes"`
	WireBytes   int64   `json:"wireBytes"`
}

func codexSides(ctx context.Context, w *workshop, asked bool) []side {
	codex := codexProgram{project: nodeProject{filepath.Join(w.peers, "codex")}}
	absent := fmt.Errorf("%w: give --codex", errNotAsked)
	if asked {
		absent = codex.install(ctx)
	}
	return []side{
		{name: codexPTY, mode: pty, peer: true, absent: absent, run: codex.side(w.temp, "tty")},
		{name: codexPipe, mode: pipe, peer: true, absent: absent, run: codex.side(w.temp, "pipe")},
	}
}

// codexProgram is the server's executable and the project with the client.
type codexProgram struct {
	project nodeProject
	server  string
}

// install installs the packages and finds the executable itself: what npm puts into .bin is a
// script that starts it, whose memory would be measured instead.
func (c *codexProgram) install(ctx context.Context) error {
	if err := c.project.install(ctx); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(c.project.dir, "node_modules/@openai/codex-*/vendor/*/bin/codex"))
	if err != nil || len(found) == 0 {
		return errors.New("the package holds no executable for this machine")
	}
	c.server = found[0]
	return nil
}

// side returns the run of a side. Only the server's costs are counted: the client is a script
// of ours.
func (c *codexProgram) side(temp, how string) func(context.Context, input, string) (sample, error) {
	return func(ctx context.Context, in input, _ string) (sample, error) {
		home, err := os.MkdirTemp(temp, "codex-")
		if err != nil {
			return sample{}, err
		}
		addr, err := freePort()
		if err != nil {
			return sample{}, err
		}
		cmd := exec.CommandContext(ctx, c.server, "exec-server", "--listen", "ws://"+addr)
		cmd.Env = append(os.Environ(), "CODEX_HOME="+home)
		server, err := startServer(cmd, func() bool { return accepts("tcp", addr) })
		if err != nil {
			return sample{}, err
		}
		var result codexResult
		_, err = c.project.run(ctx, &result, nil, "codex-exec-server.mjs", "ws://"+addr, how, in.command())
		cost, stopErr := server.finish()
		if err := errors.Join(err, stopErr); err != nil {
			return sample{}, err
		}
		if result.ExitCode != 0 || result.OutputBytes < in.bytes {
			err = fmt.Errorf("exit code %d and %d bytes of %d", result.ExitCode, result.OutputBytes, in.bytes)
		}
		return sample{result.Seconds, cost.cpu.Seconds(), cost.peakKiB, result.WireBytes}, err
	}
}

// freePort returns an address on which nobody listens at the moment.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
