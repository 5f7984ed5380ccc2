//go:build linux

package proctree

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestReaper is C29's load: orphans by the hundred beside children that others wait for, with
// and without a session of their own.
//
// TestPID1 runs it at the size of the case.
func TestReaper(t *testing.T) {
	m := manager(t, MethodWalk, true)
	size := 50
	if os.Getpid() == 1 {
		size = 500
	}
	var wg sync.WaitGroup
	wg.Go(func() { orphans(t, m, size) })
	for worker := range 4 {
		wg.Go(func() {
			for i := range size {
				if got := exitOfSeven(worker%2 == 0); got != "exit status 7" {
					t.Errorf("worker %d, child %d: Wait: %s, want exit status 7", worker, i, got)
					return
				}
			}
		})
	}
	wg.Wait()
	awaitNoChildren(t)
}

// orphans leaves n processes that end 0.2 s later.
func orphans(t *testing.T, m *Manager, n int) {
	for i := range n {
		tree, err := m.NewTree(fmt.Sprint("orphan", i), Limits{})
		if err != nil {
			t.Error(err)
			return
		}
		attr := &syscall.SysProcAttr{Setsid: true}
		env := tree.Configure(attr, os.Environ())
		cmd := exec.Command("/bin/sh", "-c", "(sleep 0.2 &); true")
		cmd.Env, cmd.SysProcAttr = env, attr
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return
		}
		tree.Started(cmd.Process.Pid)
		if err := cmd.Wait(); err != nil {
			t.Errorf("leader %d: Wait: %v", i, err)
		}
		tree.LeaderReaped()
		tree.Release()
	}
}

func exitOfSeven(setsid bool) string {
	cmd := exec.Command("/bin/sh", "-c", "exit 7")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: setsid}
	return fmt.Sprint(cmd.Run())
}

func awaitNoChildren(t *testing.T) {
	t.Helper()
	await(t, "no child, living or zombie", func() bool { return len(childrenByWalk()) == 0 })
}

// TestReaperLeavesLeaders lets leaders be zombies for as long as their owner likes.
func TestReaperLeavesLeaders(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		var waiting []*command
		for i := range 50 {
			c := eager(t, m, fmt.Sprint("l", i), "(setsid true &); exit 7")
			waiting = append(waiting, c)
		}
		for i, c := range waiting {
			c.awaitExit()
			m.reaper.signals <- syscall.SIGCHLD
			m.reaper.signals <- syscall.SIGCHLD // the first has been taken, so a look is over
			if ws := c.reap(); ws.ExitStatus() != 7 {
				t.Errorf("leader %d: status %d, want 7", i, ws.ExitStatus())
			}
		}
		awaitNoChildren(t) // some only once the grace is over
	})
}

// TestReaperIsShared closes one of two Managers and goes on reaping.
func TestReaperIsShared(t *testing.T) {
	first, second := manager(t, MethodWalk, true), manager(t, MethodWalk, true)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	c := eager(t, second, "s", "(true &); exit 0")
	c.reap()
	awaitNoChildren(t)
}

// TestPID1 runs the reaper's tests as the first process of a pid namespace, and has processes
// come in from outside, as docker exec brings them.
func TestPID1(t *testing.T) {
	if os.Getpid() == 1 {
		t.Skip("this is the inside")
	}
	if out, err := exec.Command("unshare", "-pf", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("unshare -pf --mount-proc: %v: %s", err, out)
	}
	t.Run("load", func(t *testing.T) {
		cmd := exec.Command("unshare", "-pf", "--mount-proc", os.Args[0], "-test.run=^TestReaper$|^TestMembers$|^TestEmpty", "-test.v")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestReaper ") {
			t.Errorf("as PID 1: %v\n%s", err, out)
		}
	})
	t.Run("strangers", strangersOfPID1)
}

func strangersOfPID1(t *testing.T) {
	cmd := exec.Command("unshare", "-pf", "--mount-proc", os.Args[0])
	cmd.Env = append(os.Environ(), helperVar+"=pid1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("PID 1 said %q, %v", line, err)
	}
	inner, _ := readPIDs(procPath(cmd.Process.Pid, fmt.Sprintf("task/%d/children", cmd.Process.Pid)))
	if len(inner) != 1 {
		t.Fatalf("unshare has children %v, want one", inner)
	}
	for range 20 {
		script := `setsid bash -c 'exit 3' & (setsid true &); (true &); exit 0`
		enter := exec.Command("nsenter", "-t", fmt.Sprint(inner[0]), "-p", "-m", "bash", "-c", script)
		if msg, err := enter.CombinedOutput(); err != nil {
			t.Errorf("nsenter: %v: %s", err, msg)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("PID 1 with orphans from outside: %v", err)
	}
}

func init() {
	// pid1 reaps until its stdin ends, and succeeds when no child is left.
	helpers["pid1"] = func([]string) int {
		unix.Setsid() // a container's runtime does it
		grace = time.Second
		m, err := New(Options{Instance: "pid1", Subreaper: true})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
		for range 1000 {
			if len(childrenByWalk()) == 0 {
				m.Close()
				return 0
			}
			_ = exec.Command("sleep", "0.01").Run() // somebody waits for this one
		}
		fmt.Fprintln(os.Stderr, "children left:", childrenByWalk())
		return 1
	}
}
