// tmux: a terminal that goes on without a watcher. It keeps the last 2000 lines and no file.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func tmuxSide(ctx context.Context, w *workshop) side {
	program, err := systemProgram(ctx, "tmux", "tmux")
	return side{name: "tmux", mode: pty, peer: true, absent: err,
		run: func(ctx context.Context, in input, _ string) (sample, error) {
			dir, err := os.MkdirTemp(w.temp, "tmux-")
			if err != nil {
				return sample{}, err
			}
			config, socket := filepath.Join(dir, "conf"), filepath.Join(dir, "sock")
			if err := os.WriteFile(config, []byte("set -g remain-on-exit on\n"), 0o600); err != nil {
				return sample{}, err
			}
			tmux := func(args ...string) *exec.Cmd {
				cmd := exec.CommandContext(ctx, program, append([]string{"-S", socket, "-f", config}, args...)...)
				cmd.Env = append(os.Environ(), "TMUX=", "TERM=xterm")
				return cmd
			}
			server, err := startServer(tmux("-D"), func() bool { return accepts("unix", socket) })
			if err != nil {
				return sample{}, err
			}
			command := fmt.Sprintf("%s; '%s' -S '%s' wait-for -S done", in.command(), program, socket)
			use, err := measure(tmux("new-session", "-d", "-x", "80", "-y", "24", command, ";", "wait-for", "done"))
			if err == nil {
				err = shows(tmux("capture-pane", "-p"), in)
			}
			cost, stopErr := server.finish()
			return sample{use.wall.Seconds(), cost.cpu.Seconds(), cost.peakKiB, notMeasured}, errors.Join(err, stopErr)
		}}
}

// shows checks that the screen shows how the input ends.
func shows(capture *exec.Cmd, in input) error {
	screen, err := capture.Output()
	if err != nil {
		return fmt.Errorf("look at the screen: %w", err)
	}
	end, err := in.end(40)
	if err != nil {
		return err
	}
	joined := func(s string) string { return strings.ReplaceAll(s, "\n", "") } // its lines wrap
	if !strings.Contains(joined(string(screen)), joined(end)) {
		return fmt.Errorf("the screen does not show the end of the input, %q", end)
	}
	return nil
}

// end returns the last n bytes before the last newline.
func (in input) end(n int64) (string, error) {
	file, err := os.Open(in.path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if _, err := file.Seek(max(0, in.bytes-n-1), io.SeekStart); err != nil {
		return "", err
	}
	tail, err := io.ReadAll(file)
	return string(bytes.TrimSuffix(tail, []byte("\n"))), err
}
