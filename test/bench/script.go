// script of util-linux: the program everybody has.

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func scriptSide(ctx context.Context) side {
	program, err := systemProgram(ctx, "script", "bsdutils")
	return side{name: scriptPTY, mode: pty, peer: true, absent: err,
		run: func(ctx context.Context, in input, scratch string) (sample, error) {
			out := filepath.Join(scratch, "typescript")
			use, err := measure(exec.CommandContext(ctx, program, "-q", "-e", "-c", in.command(), out))
			if err != nil {
				return sample{}, err
			}
			// Its PTY puts a carriage return before every newline, and it adds a header.
			info, err := os.Stat(out)
			if err == nil && info.Size() < in.bytes+in.lines {
				err = fmt.Errorf("typescript of %d bytes, want %d or more", info.Size(), in.bytes+in.lines)
			}
			return sample{use.wall.Seconds(), use.cpu.Seconds(), use.peakKiB, notMeasured}, err
		}}
}
