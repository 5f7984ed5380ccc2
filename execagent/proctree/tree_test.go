//go:build linux

package proctree

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// tag is a word for command lines that no other test on this machine uses: an argument of
// sleep(1), in seconds.
func tag() string { return fmt.Sprintf("94%02d.%d", tags.Add(1)%100, os.Getpid()) }

var tags atomic.Int32

// awaitSleeps waits until n processes bear the tag.
func awaitSleeps(t *testing.T, tag string, n int) {
	t.Helper()
	await(t, fmt.Sprintf("%d of sleep %s", n, tag), func() bool { return len(sleeping(tag)) == n })
}

// scripts are the ways in which commands of agents hide processes. Each ends up with the
// given number of `sleep $T`, the leader alive or not.
var scripts = []struct {
	name, script string
	sleeps       int
	rootless     bool // it leaves session, parent and environment behind
}{
	{"C06 timeout, setsid, set -m, redirected", `timeout 600 sleep $T & setsid sleep $T & bash -c "set -m; sleep $T & wait" & exec > >(cat) 2>&1; sleep $T`, 4, false},
	{"C07 ignores TERM", `trap '' TERM; sleep $T & while :; do sleep 1; done`, 1, false},
	{"C07 stopped", `sleep $T & kill -STOP $$`, 1, false},
	{"stopped child", `sleep $T & until [ "$(head -c5 /proc/$!/cmdline)" = sleep ]; do :; done; kill -STOP $!; wait`, 1, false},
	{"exec", `exec sleep $T`, 1, false},
	{"background", `sleep $T & sleep $T & wait`, 2, false},
	{"leader gone", `sleep $T & sleep $T >/dev/null & exit 3`, 2, false},
	{"nohup", `nohup sleep $T >/dev/null 2>&1 & `, 1, false},
	{"double fork", `(sleep $T &)`, 1, false},
	{"setsid double fork", `setsid bash -c "sleep $T & exit"`, 1, false},
	{"env -i", `env -i sleep $T & wait`, 1, false},
	{"env -i setsid double fork", `(setsid env -i setsid -f sleep $T >/dev/null 2>&1 </dev/null &)`, 1, true},
	{"all of it, ignoring", `(trap '' TERM HUP INT; setsid env -i bash -c "trap '' TERM; cd /; exec <&- >&- 2>&-; (setsid sleep $T &)" &); exit`, 1, true},
	{"job control", `set -m; sleep $T & (set -m; sleep $T & ) ; wait`, 2, false},
	{"a pipe", `sleep $T | sleep $T | cat`, 2, false},
}

func TestKill(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		for i, s := range scripts {
			t.Run(s.name, func(t *testing.T) {
				word := tag()
				c := shell(t, m, fmt.Sprint("k", i), "T="+word+"; "+s.script)
				awaitSleeps(t, word, s.sleeps)
				ctx, cancel := deadline()
				defer cancel()
				if left := c.Kill(ctx); len(left) > 0 {
					t.Errorf("Kill left %v", left)
				}
				c.wantGone(word)
				if !c.Empty() {
					t.Errorf("Empty() = false after Kill; members %v", c.Members())
				}
			})
		}
	})
}

// wantGone checks by other means than the package's that nothing of the tree is alive: no
// command line with the word, no cookie, nobody in the session.
func (c *command) wantGone(word string) {
	c.t.Helper()
	if left := living(word); len(left) > 0 {
		c.t.Errorf("alive with %q: %q", word, left)
	}
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		env, _ := os.ReadFile("/proc/" + d.Name() + "/environ")
		if slices.Contains(strings.Split(string(env), "\x00"), cookieVar+"="+c.cookie) {
			c.t.Errorf("alive with the cookie %q: %s", c.cookie, d.Name())
		}
		stat, _ := os.ReadFile("/proc/" + d.Name() + "/stat")
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 3 && fields[0] != "Z" && fields[3] == fmt.Sprint(c.pid) {
			c.t.Errorf("alive in session %d: %s", c.pid, stat)
		}
	}
}

// TestKillRepeated is the races of a kill that comes at any moment of a tree's growth, from
// its very start.
func TestKillRepeated(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		for i := range 50 {
			s := scripts[i%len(scripts)]
			begin := eager
			if s.rootless {
				begin = shell
			}
			word := tag()
			c := begin(t, m, fmt.Sprint("r", i), "T="+word+"; "+s.script)
			time.Sleep(time.Duration(i%10) * time.Millisecond) // any moment will do
			ctx, cancel := deadline()
			if left := c.Kill(ctx); len(left) > 0 {
				t.Errorf("run %d, %q: Kill left %v", i, s.name, left)
			}
			cancel()
			c.wantGone(word)
			c.cleanup()
		}
	})
}

func TestMembers(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		word := tag()
		c := shell(t, m, "m", "sleep "+word+" & setsid sleep "+word+" & exit 0")
		c.awaitExit()
		awaitSleeps(t, word, 2)
		want := []string{"sleep " + word, "sleep " + word}
		for _, when := range []string{"zombie leader", "reaped leader"} {
			var got []string
			for _, p := range c.Members() {
				got = append(got, p.Command)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Members() with a %s (-want +got):\n%s", when, diff)
			}
			if c.Empty() {
				t.Errorf("Empty() = true with a %s; members %v", when, c.Members())
			}
			c.reap()
		}
		c.Signal(unix.SIGTERM)
		await(t, "Empty after SIGTERM", c.Empty)
		if got := c.Members(); len(got) > 0 {
			t.Errorf("Members() = %v of an empty tree", got)
		}
	})
}

func TestEmptyWhileTheLeaderRuns(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		word := tag()
		c := shell(t, m, "e", "exec sleep "+word)
		awaitSleeps(t, word, 1)
		if !c.Empty() {
			t.Errorf("Empty() = false of a lone leader; members %v", c.Members())
		}
		other := shell(t, m, "other", "sleep "+word+" & setsid sleep "+word)
		awaitSleeps(t, word, 3)
		if !c.Empty() {
			t.Errorf("Empty() = false beside another tree; members %v", c.Members())
		}
		if other.Empty() {
			t.Error("Empty() = true of a leader with two children")
		}
	})
}

// TestEmptyNeverEarly asks at every moment of a chain of processes that each start the next
// and end.
func TestEmptyNeverEarly(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		const last = 30
		dir := t.TempDir()
		script := `f() { if (($1 < 30)); then f $(($1+1)) & else >` + dir + `/last; fi; }; f 0`
		for i := range 5 {
			c := shell(t, m, fmt.Sprint("n", i), script)
			for !ended(c.pid) || !c.Empty() { // asked in this order
			}
			if _, err := os.Stat(dir + "/last"); err != nil {
				t.Fatalf("run %d: Empty() = true before the last of %d processes: %v", i, last, err)
			}
			os.Remove(dir + "/last")
			c.cleanup()
		}
	})
}

func ended(pid int) bool {
	var s stat
	return !readStat(pid, &s) || !s.living()
}

func TestSignal(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		signal       unix.Signal
		want         int // exit code, 128+n for a signal
	}{
		{"TERM", `echo ready; exec sleep 60`, unix.SIGTERM, 143},
		{"TERM stopped", `trap 'exit 5' TERM; echo ready; kill -STOP $$; exit 6`, unix.SIGTERM, 5},
		{"TERM ignored", `trap '' TERM; trap 'exit 7' CONT; echo ready; while :; do sleep 0.01; done`, unix.SIGTERM, 7},
		{"USR1", `trap 'exit 8' USR1; echo ready; while :; do sleep 0.01; done`, unix.SIGUSR1, 8},
		{"KILL", `trap '' TERM; echo ready; while :; do sleep 0.01; done`, unix.SIGKILL, 137},
	} {
		t.Run(tc.name, func(t *testing.T) {
			methods(t, func(t *testing.T, m *Manager) {
				c := shell(t, m, "s", tc.script)
				c.out.Read(make([]byte, 16))
				if strings.Contains(tc.script, "STOP") {
					await(t, "stopped", func() bool {
						var s stat
						return readStat(c.pid, &s) && s.state == 'T'
					})
				}
				c.Signal(tc.signal)
				ws := c.reap()
				got := ws.ExitStatus()
				if ws.Signaled() {
					got = 128 + int(ws.Signal())
				}
				if got != tc.want {
					t.Errorf("signal %v to %q: exit %d, want %d", tc.signal, tc.script, got, tc.want)
				}
			})
		})
	}
}

func TestSignalReachesAll(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		word := tag()
		c := shell(t, m, "a", "trap 'exit 0' TERM; sleep "+word+" & setsid sleep "+word+" & env -i setsid -f sleep "+word+"; wait; wait")
		awaitSleeps(t, word, 3)
		c.Signal(unix.SIGTERM)
		awaitSleeps(t, word, 0)
	})
}

func TestConfigure(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		tree, err := m.NewTree("id", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Release()
		env := []string{"A=1", cookieVar + "=outer/1", "B=2"}
		var attr syscall.SysProcAttr
		got := tree.Configure(&attr, env)
		if diff := cmp.Diff([]string{"A=1", "B=2", cookieVar + "=" + instance() + "/id"}, got); diff != "" {
			t.Errorf("Configure(%q) (-want +got):\n%s", env, diff)
		}
		if attr.UseCgroupFD != (m.Method() == MethodCgroup) {
			t.Errorf("UseCgroupFD = %v with method %q", attr.UseCgroupFD, m.Method())
		}
	})
}

// TestNeverStarted releases a tree whose command could not be started.
func TestNeverStarted(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		tree, err := m.NewTree("id", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		attr := &syscall.SysProcAttr{Setsid: true}
		env := tree.Configure(attr, nil)
		if _, err := syscall.ForkExec("/nonexistent", nil, &syscall.ProcAttr{Env: env, Sys: attr}); err == nil {
			t.Fatal("/nonexistent was started")
		}
		ctx, cancel := deadline()
		defer cancel()
		if left := tree.Kill(ctx); len(left) > 0 || !tree.Empty() || len(tree.Members()) > 0 {
			t.Errorf("a tree that never started has %v, %v", left, tree.Members())
		}
		tree.Release()
		tree.Release()
	})
}

func TestUsage(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		c := shell(t, m, "u", `for ((i=0;i<30000;i++)); do :; done; (for ((i=0;i<30000;i++)); do :; done; exit)`)
		c.awaitExit()
		got := c.Usage().CPU
		var ru unix.Rusage
		if _, err := unix.Wait4(c.pid, nil, 0, &ru); err != nil {
			t.Fatal(err)
		}
		c.LeaderReaped()
		rusage := time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
		switch {
		case m.Method() == MethodWalk && got != 0:
			t.Errorf("Usage().CPU = %v from a walk, which cannot know", got)
		case m.Method() == MethodCgroup && (got < rusage/2 || got > 2*rusage):
			t.Errorf("Usage().CPU = %v, the leader's own rusage says %v", got, rusage)
		}
	})
}
