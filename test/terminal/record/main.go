//go:build linux

// Command record makes the recordings in test/terminal/testdata: what real programs print under a
// PTY of 80 columns and 24 rows, byte for byte.
//
//	go run ./test/terminal/record --out test/terminal/testdata [name...]
//
// A program that is not installed is skipped. The plain text beside a recording is written by
//
//	go test ./test/terminal -run Recordings -update
//
// and has to be read by a person before it is kept.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/pflag"
)

const (
	columns, rows = 80, 24
	// most bounds a recording in bytes.
	most = 64 << 10
	// settled is how long a program must be silent before the next key is pressed.
	settled = 700 * time.Millisecond
	// patience bounds a program's life.
	patience = 2 * time.Minute
)

func main() {
	out := pflag.String("out", "test/terminal/testdata", "directory for the recordings")
	pflag.Parse()
	failed := false
	for _, p := range programs {
		if pflag.NArg() > 0 && !slices.Contains(pflag.Args(), p.name) {
			continue
		}
		if err := p.record(*out); err != nil {
			fmt.Fprintf(os.Stderr, "record: %s: %v\n", p.name, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// record runs the program in a directory of its own and keeps what it printed.
func (p *program) record(out string) error {
	for _, need := range p.needs {
		if _, err := exec.LookPath(need); err != nil {
			return fmt.Errorf("skipped: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if p.prepare != "" {
		if out, err := p.bash(dir, p.prepare).CombinedOutput(); err != nil {
			return fmt.Errorf("preparing: %w: %s", err, out)
		}
	}
	raw, err := p.run(dir)
	if err != nil {
		return err
	}
	raw = bytes.ReplaceAll(raw, []byte(dir), []byte("/src"))
	return os.WriteFile(filepath.Join(out, p.name+".raw"), raw, 0o644)
}

func (p *program) bash(dir, script string) *exec.Cmd {
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "OLD="+os.Getenv("HOME"), "HOME="+dir, "NO_COLOR=", "CI=")
	return cmd
}

// run returns what the program prints. Each time it falls silent the next key is pressed.
func (p *program) run(dir string) ([]byte, error) {
	cmd := p.bash(dir, "unset NO_COLOR CI; "+p.script)
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		return nil, err
	}
	defer master.Close()
	chunks := make(chan []byte)
	go read(master, chunks)
	end := time.After(patience)
	keys := p.keys
	var raw []byte
	for {
		var silent <-chan time.Time
		if len(keys) > 0 {
			silent = time.After(settled)
		}
		select {
		case c, more := <-chunks:
			if raw = append(raw, c...); !more {
				_ = cmd.Wait() // its exit code is not what is recorded
				return raw[:min(len(raw), most)], nil
			}
		case <-silent:
			if _, err := io.WriteString(master, keys[0]); err != nil {
				return nil, err
			}
			keys = keys[1:]
		case <-end:
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return nil, errors.New("it did not end")
		}
	}
}

// read passes on what comes from the PTY until its end.
func read(master io.Reader, chunks chan<- []byte) {
	defer close(chunks)
	for {
		p := make([]byte, 4096)
		n, err := master.Read(p)
		if n > 0 {
			chunks <- p[:n]
		}
		if err != nil {
			return
		}
	}
}
