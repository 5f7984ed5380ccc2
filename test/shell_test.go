//go:build linux

package test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/execagent/execagent/client"
)

// root makes a root filesystem with the agent, the devices it needs and these programs, and
// returns its path.
func root(t *testing.T, programs ...string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make a root filesystem")
	}
	dir := shortTempDir(t)
	for _, d := range []string{"bin", "dev", "proc", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copyFile(t, execagentPath(), filepath.Join(dir, "execagent"))
	for _, p := range programs {
		copyFile(t, p, filepath.Join(dir, p))
		for _, lib := range libraries(t, p) {
			copyFile(t, lib, filepath.Join(dir, lib))
		}
	}
	return dir
}

// libraries lists what a program is linked with.
func libraries(t *testing.T, program string) []string {
	t.Helper()
	out, err := exec.Command("ldd", program).Output()
	if err != nil {
		t.Skipf("ldd %s: %v", program, err)
	}
	return regexp.MustCompile(`/\S+`).FindAllString(string(out), -1)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// startIn returns an agent whose root is dir, with devices and /proc mounted in a namespace of
// its own. It serves on the socket that the test reaches at its path outside.
func startIn(t *testing.T, dir string) *agent {
	t.Helper()
	return startAgentAs(t, func(cmd *exec.Cmd) {
		socket := strings.TrimPrefix(cmd.Args[3], "unix:")
		inside := filepath.Join(dir, filepath.Dir(socket))
		if err := os.MkdirAll(inside, 0o755); err != nil {
			t.Fatal(err)
		}
		line := `d=$1; shift
mount --bind "$(dirname "$2")" "$d$(dirname "$2")" && mount --rbind /dev "$d/dev" && mount -t proc proc "$d/proc" &&
exec chroot "$d" /execagent serve --listen "unix:$2" --spill-dir /tmp/spill`
		cmd.Args = []string{"sh", "-c", line, "sh", dir, "--", socket}
		cmd.Path = "/bin/sh"
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNS
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	})
}

// TestOnlySh is the first half of C30: without bash, sh runs the command.
func TestOnlySh(t *testing.T) {
	conn := startIn(t, root(t, "/bin/sh")).dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		o := run(t, conn, client.Spec{Command: "echo $0 $((6 * 7)); exit 3", Pipe: pipe})
		if o.text() != "/bin/sh 42\n" && o.text() != "sh 42\n" || o.result.ExitCode != 3 {
			t.Errorf("%q, %+v", o.text(), o.result)
		}
	})
}

// TestNoShell is the other half: one error that says what was tried. A program still runs.
func TestNoShell(t *testing.T) {
	conn := startIn(t, root(t, "/bin/cat")).dial(t)
	_, err := conn.Start(t.Context(), client.Spec{Command: "echo hi"})
	if err == nil || !strings.Contains(err.Error(), "bash") || !strings.Contains(err.Error(), "sh") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if o := run(t, conn, client.Spec{Argv: []string{"cat", "/proc/self/comm"}}); o.text() != "cat\n" {
		t.Errorf("%q, %+v", o.text(), o.result)
	}
}
