// Tests of what is told of processes.

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestMeasure(t *testing.T) {
	// The shell's child works: its time counts, the shell's memory does.
	use, err := measure(exec.Command("sh", "-c", "head -c 300000000 /dev/zero | tr a b >/dev/null; sleep 0.05"))
	if err != nil {
		t.Fatal(err)
	}
	if use.cpu <= 0 || use.wall < 50*time.Millisecond || use.peakKiB < 100 || use.peakKiB > 1<<20 {
		t.Errorf("usage %+v, want some processor time, 50 ms or more, and the memory of a shell", use)
	}
}

func TestMeasureTellsWhy(t *testing.T) {
	_, err := measure(exec.Command("sh", "-c", "echo first >&2; echo the cause >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "exit status 3: the cause") {
		t.Errorf("error %v, want the exit status and the last line of the complaint", err)
	}
}

func TestPeakOf(t *testing.T) {
	if got := peakOf(os.Getpid()); got < 1000 {
		t.Errorf("peak memory of this process is %d KiB, want thousands", got)
	}
	if got := peakOf(1 << 30); got != 0 {
		t.Errorf("peak memory of no process is %d, want 0", got)
	}
}

func TestServer(t *testing.T) {
	asked := 0
	s, err := startServer(exec.Command("sleep", "600"), func() bool { asked++; return asked > 3 })
	if err != nil {
		t.Fatal(err)
	}
	use, err := s.finish()
	if err != nil || use.peakKiB == 0 {
		t.Errorf("finish() = %+v, %v, want the memory of a process", use, err)
	}
	if err := s.stop(); err != nil {
		t.Errorf("second stop() = %v, want nil", err)
	}
}

func TestServerThatEnds(t *testing.T) {
	_, err := startServer(exec.Command("sh", "-c", "echo no such address; exit 1"), func() bool { return false })
	if err == nil || !strings.Contains(err.Error(), "no such address") {
		t.Errorf("error %v, want the server's complaint", err)
	}
}
