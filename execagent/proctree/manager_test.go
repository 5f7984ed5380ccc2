//go:build linux

package proctree

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNewRefuses(t *testing.T) {
	for _, o := range []Options{
		{Instance: ""},
		{Instance: "a/b"},
		{Instance: "a\x00"},
		{Instance: strings.Repeat("a", maxInstance+1)},
		{Instance: "a", Method: "ptrace"},
	} {
		if m, err := New(o); err == nil {
			m.Close()
			t.Errorf("New(%+v) succeeded", o)
		}
	}
}

func TestNewTreeRefuses(t *testing.T) {
	m := manager(t, MethodWalk, false)
	for _, id := range []string{"", "../x", "a b", "a\x00", strings.Repeat("a", maxID+1)} {
		if _, err := m.NewTree(id, Limits{}); err == nil {
			t.Errorf("NewTree(%q) succeeded", id)
		}
	}
}

func TestMethodIsChosen(t *testing.T) {
	best := manager(t, "", false)
	want := MethodCgroup
	if _, err := newBase("probe", false); err != nil {
		want = MethodWalk
	}
	if got := best.Method(); got != want {
		t.Errorf("Method() = %q, want %q", got, want)
	}
	if got := manager(t, MethodWalk, false).Method(); got != MethodWalk {
		t.Errorf("Method() = %q where walk was asked for", got)
	}
}

// TestForeignProc starts in a new pid namespace with the old /proc.
func TestForeignProc(t *testing.T) {
	if out, err := exec.Command("unshare", "-pf", "true").CombinedOutput(); err != nil {
		t.Skipf("unshare -pf: %v: %s", err, out)
	}
	cmd := exec.Command("unshare", "-pf", os.Args[0])
	cmd.Env = append(os.Environ(), helperVar+"=foreign")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "mount proc") {
		t.Errorf("New with the /proc of another namespace: %q, %v; want an error with the remedy", out, err)
	}
}

// TestUnprivileged runs tests of the walk as nobody.
func TestUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this is what every other test does here")
	}
	// The name in /proc needs no permission for the directories above the binary.
	cmd := exec.Command("/proc/self/exe", "-test.v", "-test.run=^TestKill$|^TestMembers$|^TestEmpty|^TestReaper$|^TestMethodIsChosen$")
	cmd.Env = append(os.Environ(), "TMPDIR=/tmp")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestKill/walk/") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

func TestOOM(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVar+"=oom")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func init() {
	helpers["foreign"] = func([]string) int {
		_, err := New(Options{Instance: "a", Method: MethodWalk})
		fmt.Print(err)
		return 0
	}
	// oom lowers its score, when it may, and gives a child the normal one.
	helpers["oom"] = func([]string) int {
		before := readWord("/proc/self", "oom_score_adj")
		normal, err := ProtectFromOOM()
		if err != nil || fmt.Sprint(normal) != before {
			fmt.Printf("ProtectFromOOM = %d, %v; the score was %s", normal, err, before)
			return 1
		}
		want := before
		if mayLowerScore() {
			want = fmt.Sprint(protected)
		}
		if got := readWord("/proc/self", "oom_score_adj"); got != want {
			fmt.Printf("the score is %s, want %s", got, want)
			return 1
		}
		child := exec.Command("sleep", "60")
		if err := child.Start(); err != nil {
			fmt.Print(err)
			return 1
		}
		defer child.Wait()
		defer child.Process.Kill()
		if err := SetOOMScore(child.Process.Pid, normal+7); err != nil {
			fmt.Print(err)
			return 1
		}
		if got := readWord(procPath(child.Process.Pid, ""), "oom_score_adj"); got != fmt.Sprint(normal+7) {
			fmt.Printf("the child's score is %s, want %d", got, normal+7)
			return 1
		}
		if err := SetOOMScore(child.Process.Pid, 1001); err == nil {
			fmt.Print("a score of 1001 was accepted")
			return 1
		}
		return 0
	}
}

// mayLowerScore looks for CAP_SYS_RESOURCE, which even root lacks in most containers.
func mayLowerScore() bool {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&hdr, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}
