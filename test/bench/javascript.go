// The JavaScript peers: installed from the lock file when node and npm are there.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A nodeProject is a folder with a package.json, its lock file and scripts.
type nodeProject struct{ dir string }

// install makes node_modules unless it is there. The packages' own scripts do not run.
func (p nodeProject) install(ctx context.Context) error {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	// npm writes this file last: half an installation does not count.
	if _, err := os.Stat(filepath.Join(p.dir, "node_modules", ".package-lock.json")); err == nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w: %s", filepath.Base(p.dir), err, lastLine(out))
	}
	return nil
}

// run runs a script that prints one JSON value, and reads it into result.
func (p nodeProject) run(ctx context.Context, result any, env []string, args ...string) (usage, error) {
	var stdout bytes.Buffer
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout = &stdout
	use, err := measure(cmd)
	if err != nil {
		return use, err
	}
	if err := json.Unmarshal(stdout.Bytes(), result); err != nil {
		return use, fmt.Errorf("read the output of %s: %w", args[0], err)
	}
	return use, nil
}

// piResult is what pi-env.mjs prints.
type piResult struct {
	OK          bool    `json:"ok"`
	Error       string  `json:"error"`
	Seconds     float64 `json:"seconds"`
	UpdateBytes int64   `json:"updateBytes"`
	Result      struct {
		ExitCode   int    `json:"exitCode"`
		SpillPath  string `json:"spillPath"`
		Truncation struct {
			TotalBytes int64 `json:"totalBytes"`
		} `json:"truncation"`
	} `json:"result"`
}

// piSide is the harness environment of the published JavaScript package. It runs in the
// harness's own process: its updates stand for bytes on the wire, as JSON.
func piSide(ctx context.Context, w *workshop) side {
	project := nodeProject{w.peers}
	return side{name: piPipe, mode: pipe, peer: true, absent: project.install(ctx),
		run: func(ctx context.Context, in input, scratch string) (sample, error) {
			var result piResult
			use, err := project.run(ctx, &result, []string{"TMPDIR=" + scratch}, "pi-env.mjs", in.command())
			if err != nil {
				return sample{}, err
			}
			s := sample{result.Seconds, use.cpu.Seconds(), use.peakKiB, result.UpdateBytes}
			return s, result.check(in)
		}}
}

func (r piResult) check(in input) error {
	switch {
	case !r.OK:
		return errors.New(r.Error)
	case r.Result.ExitCode != 0:
		return fmt.Errorf("exit code %d", r.Result.ExitCode)
	case r.Result.Truncation.TotalBytes != in.bytes:
		return fmt.Errorf("total of %d bytes, want %d", r.Result.Truncation.TotalBytes, in.bytes)
	}
	return sameFiles(in.path, r.Result.SpillPath)
}
