// Our side: an agent, a client, a unix socket between them.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// ownResult is the line of execctl's JSON output that says how the command ended.
type ownResult struct {
	Type       string  `json:"type"`
	ExitCode   int     `json:"exitCode"`
	Seconds    float64 `json:"seconds"`
	WireBytes  *int64  `json:"wireBytes"`
	SpillPath  string  `json:"spillPath"`
	Truncation struct {
		TotalBytes int64 `json:"totalBytes"`
		TotalLines int64 `json:"totalLines"`
	} `json:"truncation"`
}

// ownPrograms are the paths of our binaries.
type ownPrograms struct{ agent, ctl string }

func ownSides(w *workshop) []side {
	programs, err := buildOwn(w)
	return []side{
		{name: ownPTY, mode: pty, own: true, absent: err, run: programs.side(w.temp)},
		{name: ownPipe, mode: pipe, own: true, absent: err, run: programs.side(w.temp, "--pipe")},
	}
}

func buildOwn(w *workshop) (p ownPrograms, err error) {
	if p.agent, err = w.build("execagent"); err != nil {
		return p, err
	}
	p.ctl, err = w.build("execctl")
	return p, err
}

// side returns the run of a side: a fresh agent, so that its costs are of this one command.
func (p ownPrograms) side(temp string, flags ...string) func(context.Context, input, string) (sample, error) {
	return func(ctx context.Context, in input, scratch string) (sample, error) {
		dir, err := os.MkdirTemp(temp, "")
		if err != nil {
			return sample{}, err
		}
		socket := filepath.Join(dir, "sock")
		agent, err := startServer(
			exec.CommandContext(ctx, p.agent, "serve", "--listen", "unix:"+socket, "--spill-dir", filepath.Join(scratch, "spill")),
			func() bool { return accepts("unix", socket) })
		if err != nil {
			return sample{}, err
		}
		result, client, err := p.runCommand(ctx, "unix:"+socket, in, flags)
		cost, stopErr := agent.finish()
		if err := errors.Join(err, stopErr); err != nil {
			return sample{}, err
		}
		return sample{
			seconds:   result.Seconds,
			cpu:       (cost.cpu + client.cpu).Seconds(),
			peakKiB:   cost.peakKiB,
			wireBytes: *result.WireBytes,
		}, result.check(in, client)
	}
}

// runCommand runs the client.
func (p ownPrograms) runCommand(ctx context.Context, addr string, in input, flags []string) (ownResult, usage, error) {
	args := append([]string{"run", "--addr", addr, "--json"}, flags...)
	cmd := exec.CommandContext(ctx, p.ctl, append(args, "--", in.command())...)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	use, err := measure(cmd)
	if err != nil {
		return ownResult{}, use, err
	}
	result, err := parseOwnResult(&stdout)
	return result, use, err
}

// parseOwnResult finds the result among the JSON values of a stream.
func parseOwnResult(r io.Reader) (ownResult, error) {
	for decoder := json.NewDecoder(r); ; {
		var result ownResult
		switch err := decoder.Decode(&result); {
		case err == io.EOF:
			return result, errors.New("execctl printed no result")
		case err != nil:
			return result, fmt.Errorf("read the output of execctl: %w", err)
		case result.Type != "result":
		case result.WireBytes == nil:
			return result, errors.New("execctl's result has no wireBytes")
		default:
			return result, nil
		}
	}
}

// check says whether the result is that of a command whose whole output was kept.
func (r ownResult) check(in input, client usage) error {
	lines := in.lines
	if in.open {
		lines++
	}
	switch {
	case r.ExitCode != 0:
		return fmt.Errorf("exit code %d", r.ExitCode)
	case r.Truncation.TotalBytes != in.bytes || r.Truncation.TotalLines != lines:
		return fmt.Errorf("totals of %d bytes and %d lines, want %d and %d",
			r.Truncation.TotalBytes, r.Truncation.TotalLines, in.bytes, lines)
	case r.Seconds <= 0 || r.Seconds > client.wall.Seconds():
		return fmt.Errorf("claims %.3f s, the client ran for %.3f s", r.Seconds, client.wall.Seconds())
	}
	return sameFiles(in.path, r.SpillPath)
}

// accepts reports whether somebody listens.
func accepts(network, address string) bool {
	conn, err := net.Dial(network, address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
