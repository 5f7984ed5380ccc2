//go:build linux

package execagent

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/execagent/execagent/transport/protocol"
)

// TestGit is C17: what opens a pager or an editor on a person's terminal does not wait for one
// here.
func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	a := newAgent(t)
	dir := t.TempDir()
	git := func(command string) (protocol.Result, string) {
		return outcome(t, begin(t, a, protocol.Spec{Command: command, Cwd: dir, Env: []string{
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME=" + dir, "VISUAL=", "EDITOR=",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		}}))
	}
	if r, text := git("git init -q . && for i in $(seq 1 300); do git commit -q --allow-empty -m \"commit number $i\" || exit; done"); r.ExitCode != 0 {
		t.Fatalf("%s", text)
	}
	r, text := git("git log")
	if r.ExitCode != 0 || strings.Count(text, "commit number ") != 300 {
		t.Errorf("git log: exit %d, %d commits of 300", r.ExitCode, strings.Count(text, "commit number "))
	}
	if r, text := git("git commit --allow-empty"); r.ExitCode == 0 || text == "" || r.Seconds > 30 {
		t.Errorf("git commit without a message: %+v, %q", r, text)
	}
}
