//go:build linux

package test

// This file runs execctl under a PTY and collects what it writes there.

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"
)

const (
	screenRows, screenCols = 24, 80

	autowrapOff = "\x1b[?7l"
	autowrapOn  = "\x1b[?7h"
)

// terminal is execctl run under a PTY, and the bytes it has written there.
type terminal struct {
	cmd   *exec.Cmd
	pty   *os.File
	bytes chan []byte // closed at the end
	seen  bytes.Buffer
}

// onTerminal starts execctl run with args under a PTY of 80 by 24.
func onTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(execctlPath(), append([]string{"run"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "PATH="+binDir+":"+os.Getenv("PATH"))
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: screenRows, Cols: screenCols})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{cmd: cmd, pty: file, bytes: make(chan []byte)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(term.bytes)
		for {
			p := make([]byte, 4096)
			n, err := file.Read(p)
			if err != nil {
				return // EIO at the end
			}
			term.bytes <- p[:n]
		}
	}()
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		file.Close()
		for range term.bytes {
		}
		<-read
	})
	return term
}

// await reads until text has come.
func (term *terminal) await(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(patience)
	for !bytes.Contains(term.seen.Bytes(), []byte(text)) {
		select {
		case p, ok := <-term.bytes:
			if !ok {
				t.Fatalf("the terminal has %q, want %q", term.seen.Bytes(), text)
			}
			term.seen.Write(p)
		case <-deadline:
			t.Fatalf("the terminal has %q after %v, want %q", term.seen.Bytes(), patience, text)
		}
	}
}

// end reads to the end and returns everything and the exit code.
func (term *terminal) end(t *testing.T) (all string, code int) {
	t.Helper()
	deadline := time.After(patience)
	for open := true; open; {
		var p []byte
		select {
		case p, open = <-term.bytes:
			term.seen.Write(p)
		case <-deadline:
			t.Fatalf("execctl has not ended after %v; the terminal has %q", patience, term.seen.Bytes())
		}
	}
	err := term.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return term.seen.String(), term.cmd.ProcessState.ExitCode()
}
