//go:build linux

package execagent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/execagent/execagent/transport/protocol"
)

// marks make the sleeps of a test findable: no other process sleeps that long.
var marks atomic.Int64

func mark() string {
	return fmt.Sprintf("9%07d%03d", os.Getpid()%1e7, marks.Add(1))
}

// running lists the living processes whose command line has the mark.
func running(t *testing.T, mark string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		line, err := os.ReadFile(dir + "/cmdline") // a zombie has none
		if err == nil && bytes.Contains(line, []byte(mark)) && !bytes.HasPrefix(line, []byte("/bin/bash")) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			pids = append(pids, pid)
		}
	}
	return pids
}

// started is running once n processes have come to be what they are to be: a shell's child is
// a copy of the shell until its exec.
func started(t *testing.T, mark string, n int) (pids []int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if pids = running(t, mark); len(pids) == n || time.Now().After(deadline) {
			return pids
		}
	}
}

func kill(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestKillTree is C06 and C07: a timeout or a cancel ends everything a command has started,
// however it was started and whatever it ignores.
func TestKillTree(t *testing.T) {
	a := newAgent(t)
	commands := map[string]string{
		"C06":             "timeout 600 sleep %[1]s & setsid sleep %[1]s & bash -c 'set -m; sleep %[1]s & wait' & exec > >(cat) 2>&1; sleep %[1]s",
		"double fork":     "(setsid sh -c 'sleep %[1]s & sleep %[1]s' &) & sleep %[1]s",
		"an empty env":    "env -i setsid sleep %[1]s & sleep %[1]s",
		"ignores TERM":    "trap '' TERM; sleep %[1]s & setsid sh -c 'sleep %[1]s; sleep %[1]s' & while :; do sleep %[1]s; done",
		"stopped":         "sleep %[1]s & kill -STOP $!; sleep %[1]s",
		"stopped leader":  "sleep %[1]s & kill -STOP $$",
		"closed its ends": "setsid sleep %[1]s <&- >&- 2>&- & sleep %[1]s",
	}
	for name, command := range commands {
		for _, how := range []string{"timeout", "cancel"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				bothModes(t, func(t *testing.T, pipe bool) {
					m := mark()
					spec := protocol.Spec{Command: fmt.Sprintf("echo on; "+command, m), Shell: "bash", Pipe: pipe, Grace: 200 * time.Millisecond}
					want := protocol.ReasonCanceled
					if how == "timeout" {
						spec.Timeout, want = 500*time.Millisecond, protocol.ReasonTimeout
					}
					e := begin(t, a, spec)
					if how == "cancel" {
						until(t, e, func(text string) bool { return text == "on\n" })
						e.end(protocol.ReasonCanceled)
					}
					r, _ := outcome(t, e)
					if r.Reason != want || len(r.Leftovers) > 0 {
						t.Errorf("reason %s, leftovers %v", r.Reason, r.Leftovers)
					}
					if alive := running(t, m); len(alive) > 0 {
						kill(alive)
						t.Errorf("%d processes are alive after the kill", len(alive))
					}
				})
			})
		}
	}
}

// TestBackground is C04 and C05: what a command leaves behind does not delay its result,
// lives, and is named.
func TestBackground(t *testing.T) {
	a := newAgent(t)
	for _, command := range []string{
		"sleep %s & echo ok",
		"sleep %s >/dev/null & echo ok",
		"sleep %s >/dev/null 2>&1 & echo ok",
		"setsid sleep %s & sleep 0.3; echo ok",
		"nohup sleep %s >/dev/null 2>&1 & echo ok",
		"env -i setsid sleep %s >/dev/null 2>&1 & sleep 0.1; echo ok",
	} {
		bothModes(t, func(t *testing.T, pipe bool) {
			m := mark()
			e := begin(t, a, protocol.Spec{Command: fmt.Sprintf(command, m), Shell: "bash", Pipe: pipe})
			r, text := outcome(t, e)
			alive := started(t, m, 1)
			defer kill(alive)
			if text != "ok\n" || r.ExitCode != 0 || r.Seconds > 20 {
				t.Errorf("%q: %q, %+v", command, text, r)
			}
			if len(alive) != 1 || len(r.Leftovers) != 1 || r.Leftovers[0].PID != alive[0] || !strings.Contains(r.Leftovers[0].Command, m) {
				t.Errorf("%q: %v is alive, leftovers %v", command, alive, r.Leftovers)
			}
		})
	}
}

// TestNohup is C05: fifty shells end right after starting a process, which lives on.
func TestNohup(t *testing.T) {
	a := newAgent(t)
	m := mark()
	for range 50 {
		outcome(t, begin(t, a, protocol.Spec{Command: "nohup sleep " + m + " >/dev/null 2>&1 & echo ok"}))
	}
	alive := started(t, m, 50)
	kill(alive)
	if len(alive) != 50 {
		t.Errorf("%d of 50 are alive", len(alive))
	}
}

// TestCloseBesideLeftovers: an agent that is closed does not wait for what was left running,
// and does not end it.
func TestCloseBesideLeftovers(t *testing.T) {
	a, err := New(Options{SpillDir: filepath.Join(t.TempDir(), "spill")})
	if err != nil {
		t.Fatal(err)
	}
	m := mark()
	outcome(t, begin(t, a, protocol.Spec{Command: "sleep " + m + " & echo ok"}))
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	alive := started(t, m, 1)
	kill(alive)
	if len(alive) != 1 {
		t.Error("the leftover is gone")
	}
}
