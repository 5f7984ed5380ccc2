//go:build linux

package test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/execagent/execagent/client"
)

// startInit returns an agent that is PID 1 of a namespace of its own.
func startInit(t *testing.T) *agent {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a pid namespace with its own /proc")
	}
	return startAgentAs(t, func(cmd *exec.Cmd) {
		// The shell is PID 1 and becomes the agent.
		line := "mount -t proc proc /proc && exec \"$0\" \"$@\""
		cmd.Args = append([]string{"sh", "-c", line}, cmd.Args...)
		cmd.Path = "/bin/sh"
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS // makes the mounts private
	})
}

// zombies lists the children of a process that nobody has waited for.
func zombies(t *testing.T, parent int) (found []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		// state, parent
		if f := statFields(pid); len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(parent) {
			found = append(found, pid)
		}
	}
	return found
}

// TestInit is C29: an agent that is PID 1 reaps what its commands leave to it, and takes nobody
// else's exit status.
func TestInit(t *testing.T) {
	a := startInit(t)
	conn := a.dial(t)
	if o := run(t, conn, client.Spec{Command: "cat /proc/1/comm"}); o.text() != "execagent\n" {
		t.Fatalf("PID 1 is %q", o.text())
	}
	each := func(n int, command string, want int) func() {
		return func() {
			for i := range n {
				if err := exitsWith(conn, command, want); err != nil {
					t.Errorf("%q, %d: %v", command, i, err)
					return
				}
			}
		}
	}
	var wg sync.WaitGroup
	for range 20 { // each waits a moment for the output that its leftover could write
		wg.Go(each(25, "(sleep 0.2 &); true", 0))
	}
	wg.Go(each(1000, "exit 7", 7))
	wg.Go(each(1000, "exit 7", 7))
	wg.Wait()
	var left []int
	eventually(t, "no zombie is left", func() bool {
		left = zombies(t, a.pid)
		return len(left) == 0
	}, &left)
}

func exitsWith(conn *client.Conn, command string, want int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd, err := conn.Start(ctx, client.Spec{Command: command, Pipe: true})
	if err != nil {
		return err
	}
	r, err := cmd.Wait()
	if err != nil {
		return err
	}
	if r.ExitCode != want {
		return fmt.Errorf("exit code %d, want %d", r.ExitCode, want)
	}
	return nil
}

// TestInitKills: what has detached itself from a command becomes a child of PID 1, and is
// still found when the command is ended.
func TestInitKills(t *testing.T) {
	a := startInit(t)
	conn := a.dial(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd, err := conn.Start(ctx, client.Spec{Command: "(setsid sh -c 'sleep 600 & sleep 600' &) ; env -i setsid sleep 600 & echo on; wait; sleep 600"})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range cmd.Batches() {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(cmd.View().Text, "on\n") {
			cancel()
		}
	}
	r, err := cmd.Wait()
	if err != nil || len(r.Leftovers) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if left := a.commands(t); len(left) > 0 {
		t.Errorf("alive after the cancel: %+v", left)
	}
}
