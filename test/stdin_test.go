//go:build linux

package test

// This file is about standard input: none by default, or a pipe from the client.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"golang.org/x/sys/unix"
)

// Without input a command that reads finds the end at once (C18).
func TestNoInput(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		for command, want := range map[string]string{
			"cat; echo rc=$?":                      "rc=0\n",
			`read -p 'name? ' x; echo "[$x]"`:      "[]\n",
			"(cat </dev/tty) 2>/dev/null; echo $?": "1\n",
		} {
			o := run(t, conn, client.Spec{Command: command, Pipe: pipe})
			if o.text() != want || o.result.Seconds > 5 {
				t.Errorf("%q printed %q after %.1f s, want %q at once", command, o.text(), o.result.Seconds, want)
			}
		}
		cmd := start(t, conn, client.Spec{Command: "cat", Pipe: pipe})
		if n, err := cmd.Stdin().Write([]byte("x")); n != 0 || !errors.Is(err, client.ErrNoStdin) {
			t.Errorf("writing input to a command without: %d, %v, want 0, %v", n, err, client.ErrNoStdin)
		}
		if err := cmd.Stdin().Close(); !errors.Is(err, client.ErrNoStdin) {
			t.Errorf("closing the input of a command without: %v, want %v", err, client.ErrNoStdin)
		}
		checkExit(t, follow(t, cmd, limits.Limits{}, nil), 0)
	})
}

// All input arrives, in order, also when the command is slower than the client.
func TestInput(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	in := make([]byte, 8<<20)
	rand.NewChaCha8([32]byte{1}).Read(in)
	want := fmt.Sprintf("%x  -\n", sha256.Sum256(in))
	bothModes(t, func(t *testing.T, pipe bool) {
		cmd := start(t, conn, client.Spec{Command: "sleep 0.2; cat | sha256sum", Stdin: client.StdinPipe, Pipe: pipe})
		written := make(chan error, 1)
		go func() {
			_, err := cmd.Stdin().Write(in)
			written <- errors.Join(err, cmd.Stdin().Close())
		}()
		o := follow(t, cmd, limits.Limits{}, nil)
		if err := <-written; err != nil {
			t.Errorf("writing the input: %v", err)
		}
		checkExit(t, o, 0)
		if o.text() != want {
			t.Errorf("text %q, want %q", o.text(), want)
		}
	})
}

// Input that nobody reads blocks neither the rest of the connection nor the command's end, and
// later writes do not block either.
func TestInputThatNobodyReads(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	cmd := start(t, conn, client.Spec{Command: "exec sleep 600", Stdin: client.StdinPipe, Grace: shortGrace})
	written := make(chan error, 1)
	go func() {
		var err error
		for range 16 {
			if _, err = cmd.Stdin().Write(make([]byte, 1<<20)); err != nil {
				break
			}
		}
		written <- err
	}()
	if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
		t.Errorf("beside it: text %q, want %q", o.text(), "on\n")
	}
	select {
	case err := <-written:
		t.Errorf("16 MiB of input were taken by a command that does not read (%v)", err)
	default:
	}
	cancel(t, conn, cmd.ID())
	checkEnded(t, follow(t, cmd, limits.Limits{}, nil), protocol.ReasonCanceled, "TERM")
	select {
	case <-written: // taken and dropped, or refused
	case <-time.After(patience):
		t.Fatalf("the write is blocked %v after the command's end", patience)
	}
}

// A client that leaves while its input blocks takes nothing with it: the command goes on, and
// the agent can end.
func TestLeavingWithInputBlocked(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	leaver := a.dial(t)
	cmd, err := leaver.Start(ctx, client.Spec{ID: "blocked", Command: "exec sleep 600", Stdin: client.StdinPipe, Grace: shortGrace})
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		noise := rand.NewChaCha8([32]byte{1}) // what is compressed takes long to fill a window
		for err := error(nil); err == nil; {
			block := make([]byte, 1<<20)
			noise.Read(block)
			_, err = cmd.Stdin().Write(block)
		}
	}()
	conn := a.dial(t)
	other := func(when string) {
		t.Helper()
		if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
			t.Errorf("%s: text %q, want %q", when, o.text(), "on\n")
		}
	}
	eventually(t, "the command's pipe is full", func() bool { return pipeIsFull(t, cmd.Started().PID) })
	eventually(t, "more is sent than the pipe takes", func() bool { return leaver.WireBytes() > 200<<10 })
	other("before it leaves")
	if err := leaver.Close(); err != nil {
		t.Error(err)
	}
	<-written
	other("after it left")
	if !alive(cmd.Started().PID) {
		t.Error("the command ended with its client, want it to go on")
	}
	// The rest is startAgent's: the agent must end.
}

// pipeIsFull reports whether the pipe that is a process's standard input can take no more.
func pipeIsFull(t *testing.T, pid int) bool {
	t.Helper()
	in, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/0", pid), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	waiting, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCINQ)
	if err != nil {
		t.Fatal(err)
	}
	size, err := unix.FcntlInt(in.Fd(), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		t.Fatal(err)
	}
	return waiting == size
}
