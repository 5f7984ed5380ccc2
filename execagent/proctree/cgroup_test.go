//go:build linux

package proctree

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestReleaseKeepsLeftovers frees a cgroup once its leftover has ended, at a later release.
func TestReleaseKeepsLeftovers(t *testing.T) {
	m := manager(t, MethodCgroup, true)
	word := tag()
	c := shell(t, m, "left", "sleep "+word+" & exit")
	c.awaitExit()
	c.reap()
	c.Release()
	if got := inUse(m); len(got) != 1 {
		t.Errorf("after the release of a tree with a leftover there are the cgroups %q, want 1", got)
	}
	if got := c.Members(); len(got) != 1 {
		t.Errorf("Members() after Release = %v, want the leftover", got)
	}
	c.Signal(9)
	await(t, "Empty", c.Empty)
	next, err := m.NewTree("next", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	next.Release()
	if got := inUse(m); len(got) != 0 {
		t.Errorf("after the leftover's end and another release there is %q", got)
	}
}

// inUse names the cgroups below m's but for the one made ahead.
func inUse(m *Manager) []string {
	spare := m.base.spare.Load()
	return slices.DeleteFunc(subgroups(m.base.dir), func(name string) bool {
		return spare != nil && name == filepath.Base(spare.dir)
	})
}

// TestSweep removes what an agent left that ended without Close, or with leftovers.
func TestSweep(t *testing.T) {
	m := manager(t, MethodCgroup, true)
	word := tag()
	c := shell(t, m, "left", "sleep "+word+" & exit")
	c.awaitExit()
	awaitSleeps(t, word, 1)
	dir := m.base.dir
	m.Close()
	second := manager(t, MethodCgroup, false)
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("a cgroup with a leftover in it: %v", err)
	}
	c.Signal(9)
	await(t, "Empty", c.Empty)
	manager(t, MethodCgroup, false)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("an abandoned empty cgroup after New: %v, want it removed", err)
	}
	if _, err := os.Stat(second.base.dir); err != nil {
		t.Errorf("the cgroup of a Manager in use: %v", err)
	}
}

// TestNestedCgroups has a command make cgroups inside its own.
func TestNestedCgroups(t *testing.T) {
	m := manager(t, MethodCgroup, true)
	word := tag()
	sub := m.base.dir + "/1/a/b" // the first tree's
	c := shell(t, m, "n", fmt.Sprintf(`mkdir -p %s && (echo $BASHPID >%s/cgroup.procs; exec sleep %s) & wait`, sub, sub, word))
	awaitSleeps(t, word, 1)
	await(t, "the nested member", func() bool { return len(c.Members()) >= 1 })
	if c.Empty() {
		t.Error("Empty() = true with a process in a nested cgroup")
	}
	ctx, cancel := deadline()
	defer cancel()
	if left := c.Kill(ctx); len(left) > 0 {
		t.Errorf("Kill left %v", left)
	}
	c.wantGone(word)
	c.reap()
	c.Release()
	if _, err := os.Stat(c.group.dir); !os.IsNotExist(err) {
		t.Errorf("after Release the nested cgroups: %v, want them removed", err)
	}
}

// TestKillFollowsAnEscape kills a privileged process that has left its cgroup.
func TestKillFollowsAnEscape(t *testing.T) {
	m := manager(t, MethodCgroup, true)
	word := tag()
	c := shell(t, m, "x", fmt.Sprintf(`echo $$ >%s/cgroup.procs && exec sleep %s`, m.base.own.dir, word))
	awaitSleeps(t, word, 1)
	ctx, cancel := deadline()
	defer cancel()
	if left := c.Kill(ctx); len(left) > 0 {
		t.Errorf("Kill left %v", left)
	}
	c.wantGone(word)
}

func TestOwnCgroup(t *testing.T) {
	const mounts = `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
32 31 0:29 / /sys/fs/cgroup/cpu rw shared:3 - cgroup cgroup rw,cpu
41 31 0:38 / /sys/fs/cgroup/uni\040fied rw,relatime shared:4 master:1 - cgroup2 cgroup2 rw
42 31 0:38 /docker/1 /mnt rw - cgroup2 none rw
43 31 short
`
	want := []location{{"/sys/fs/cgroup/uni fied", "/"}, {"/mnt", "/docker/1"}}
	if diff := cmp.Diff(want, cgroup2Mounts([]byte(mounts)), cmp.AllowUnexported(location{})); diff != "" {
		t.Errorf("cgroup2Mounts (-want +got):\n%s", diff)
	}
	path, ok := unifiedPath([]byte("4:memory:/a\n0::/b/c d\n"))
	if path != "/b/c d" || !ok {
		t.Errorf("unifiedPath = %q, %v", path, ok)
	}
	if path, ok := unifiedPath([]byte("4:memory:/a\n")); ok {
		t.Errorf("unifiedPath without cgroup v2 = %q", path)
	}
	for _, tc := range []struct {
		root, path, want string
		ok               bool
	}{
		{"/", "/", ".", true},
		{"/", "/a/b", "a/b", true},
		{"/docker/1", "/docker/1/x", "x", true},
		{"/docker/1", "/docker/12", "", false},
		{"/docker/1", "/", "", false},
		{"/", "/../x", "", false},
		{"/..", "/../x", "", false},
	} {
		got, ok := under(tc.root, tc.path)
		if ok != tc.ok || ok && got != tc.want {
			t.Errorf("under(%q, %q) = %q, %v; want %q, %v", tc.root, tc.path, got, ok, tc.want, tc.ok)
		}
	}
}

// files makes a directory of control files, for controllers that this machine lacks.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLimitsAreWritten(t *testing.T) {
	dir := files(t, map[string]string{"memory.max": "", "memory.swap.max": "", "pids.max": ""})
	c := &cgroup{location: location{dir: dir}}
	if err := c.limit(Limits{MemoryMax: 1 << 30, PIDsMax: 64}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"memory.max": "1073741824", "memory.swap.max": "0", "pids.max": "64"} {
		if got := readWord(dir, name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

func TestUsageIsRead(t *testing.T) {
	dir := files(t, map[string]string{
		"cpu.stat":      "usage_usec 1500\nuser_usec 1000\n",
		"memory.peak":   "123456\n",
		"memory.events": "low 0\noom 2\noom_kill 1\noom_group_kill 0\n",
	})
	want := Usage{CPU: 1500 * time.Microsecond, PeakMemory: 123456, OOMKilled: true}
	if got := (&cgroup{location: location{dir: dir}}).usage(); got != want {
		t.Errorf("usage() = %+v, want %+v", got, want)
	}
	if got := (&cgroup{location: location{dir: t.TempDir()}}).usage(); got != (Usage{}) {
		t.Errorf("usage() without controllers = %+v", got)
	}
}

func TestLimitErrors(t *testing.T) {
	walk := manager(t, MethodWalk, false)
	_, err := walk.NewTree("w", Limits{PIDsMax: 5})
	wantLimitError(t, err, "pids")
	if _, err := walk.NewTree("w", Limits{MemoryMax: -1}); err == nil {
		t.Error("a limit of -1 byte was accepted")
	}

	m := manager(t, MethodCgroup, false)
	if lists(m.base.own.dir, "cgroup.controllers", "memory") {
		t.Skip("this machine has the memory controller")
	}
	_, err = m.NewTree("c", Limits{MemoryMax: 1 << 30})
	wantLimitError(t, err, "memory")
	if got := subgroups(m.base.dir); len(got) > 0 {
		t.Errorf("a refused tree left %q", got)
	}
}

func wantLimitError(t *testing.T, err error, controller string) {
	t.Helper()
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Controller != controller || limit.Remedy == "" || !strings.Contains(err.Error(), limit.Remedy) {
		t.Errorf("err = %v, want a *LimitError of %q with its remedy", err, controller)
	}
}

// TestControllersInAUsedCgroup enables a controller where a cgroup holds the daemon: it must
// move aside. hugetlb stands for those that this kernel has elsewhere.
func TestControllersInAUsedCgroup(t *testing.T) {
	const controller = "hugetlb"
	m := manager(t, MethodCgroup, false)
	own := m.base.own.dir
	if !lists(own, "cgroup.controllers", controller) {
		t.Skipf("no %s controller here", controller)
	}
	if !lists(own, "cgroup.subtree_control", controller) {
		if err := passOn(own, controller); err != nil {
			t.Skip("not the root of the hierarchy:", err)
		}
		t.Cleanup(func() { write(own, "cgroup.subtree_control", "-"+controller) })
	}
	for name, want := range map[string]string{"daemon": "enabled", "embedded": "refused"} {
		t.Run(name, func(t *testing.T) {
			unit := own + "/proctree-test-" + name
			if err := os.Mkdir(unit, 0o755); err != nil {
				t.Fatal(err)
			}
			dir, err := os.Open(unit)
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			cmd := exec.Command(os.Args[0], name)
			cmd.Env = append(os.Environ(), helperVar+"=enable", "CONTROLLER="+controller)
			cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != want {
				t.Errorf("in a cgroup of its own: %q, %v; want %q", out, err, want)
			}
			if !(&cgroup{location: location{dir: unit}}).remove() {
				t.Errorf("%s stays", unit)
			}
		})
	}
}

func init() {
	// enable enables a controller for trees and looks into one whether it is there.
	helpers["enable"] = func(args []string) int {
		m, err := New(Options{Instance: "enable", Subreaper: args[0] == "daemon", Method: MethodCgroup})
		if err != nil {
			fmt.Print(err)
			return 1
		}
		defer m.Close()
		name := os.Getenv("CONTROLLER")
		if err := m.base.enableOne(name); err != nil {
			var limit *LimitError
			if errors.As(err, &limit) && errors.Is(err, syscall.EBUSY) {
				fmt.Print("refused")
				return 0
			}
			fmt.Print(err)
			return 1
		}
		tree, err := m.NewTree("t", Limits{})
		if err != nil {
			fmt.Print(err)
			return 1
		}
		defer tree.Release()
		if !lists(tree.group.dir, "cgroup.controllers", name) {
			fmt.Printf("no %s in %s", name, tree.group.dir)
			return 1
		}
		fmt.Print("enabled")
		return 0
	}
}
