//go:build linux

package test

// This file is about disks that give trouble: the command goes on, and the result says what of
// its output is kept.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/spill"
	"github.com/execagent/execagent/transport/protocol"
	"golang.org/x/sys/unix"
)

// mountTmpfs mounts a small file system for the test.
func mountTmpfs(t testing.TB, options string) string {
	t.Helper()
	dir := shortTempDir(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("mounting a tmpfs: %v (run as root with CAP_SYS_ADMIN)", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// checkKept checks that the result tells the truth about the spill of raw: where it is, and how
// much of it is there.
func checkKept(t *testing.T, r *client.Result, raw []byte, cause spill.Cause) {
	t.Helper()
	if cause == "" {
		if r.SpillError != nil {
			t.Errorf("spill error %+v, want none", *r.SpillError)
		}
		if got := spilled(t, r); !bytes.Equal(got, raw) {
			t.Errorf("the spill has %d bytes, want the %d printed", len(got), len(raw))
		}
		return
	}
	if r.SpillError == nil || r.SpillError.Cause != string(cause) || r.SpillError.Message == "" {
		t.Fatalf("spill error %+v, want cause %q", r.SpillError, cause)
	}
	if r.SpillPath == "" {
		if r.SpillError.SafeBytes != 0 {
			t.Errorf("%d bytes are safe in no file", r.SpillError.SafeBytes)
		}
		return
	}
	got, err := os.ReadFile(r.SpillPath)
	must(t, err) // a path that is given leads to a file
	if int64(len(got)) != r.SpillError.SafeBytes || !bytes.HasPrefix(raw, got) {
		t.Errorf("the spill has %d bytes, want the first %d of what was printed", len(got), r.SpillError.SafeBytes)
	}
}

// A spill directory that cannot be used costs the file and nothing else, until it can (C25).
func TestSpillDirectoryInTrouble(t *testing.T) {
	for _, c := range []struct {
		name    string
		arrange func(t *testing.T) (dir string, repair func())
		cause   spill.Cause // of the first; "" when it is kept
		least   int64       // bytes kept of it
	}{
		{"missing", func(t *testing.T) (string, func()) { return shortTempDir(t) + "/a/b", nil }, "", 0},
		{"a file", func(t *testing.T) (string, func()) {
			path := shortTempDir(t) + "/spill"
			must(t, os.WriteFile(path, nil, 0o600))
			return path, func() { must(t, os.Remove(path)) }
		}, spill.Directory, 0},
		{"a link", func(t *testing.T) (string, func()) {
			path := shortTempDir(t) + "/spill"
			must(t, os.Symlink(shortTempDir(t), path))
			return path, func() { must(t, os.Remove(path)) }
		}, spill.Directory, 0},
		{"somebody else's", func(t *testing.T) (string, func()) {
			path := shortTempDir(t) + "/spill"
			must(t, os.Mkdir(path, 0o700))
			if err := os.Chown(path, 12345, -1); err != nil {
				t.Skipf("giving a directory away: %v (run as root)", err)
			}
			return path, func() { must(t, os.Chown(path, os.Geteuid(), -1)) }
		}, spill.Directory, 0},
		{"read-only", func(t *testing.T) (string, func()) {
			dir := mountTmpfs(t, "size=4m,mode=700")
			must(t, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, "size=4m"))
			return dir + "/spill", func() { must(t, unix.Mount("", dir, "", unix.MS_REMOUNT, "size=4m")) }
		}, spill.Denied, 0},
		{"full", func(t *testing.T) (string, func()) {
			dir := mountTmpfs(t, "size=1m")
			must(t, os.WriteFile(dir+"/filler", make([]byte, 1<<19), 0o600))
			return dir + "/spill", func() { must(t, os.Remove(dir+"/filler")) }
		}, spill.DiskFull, 300_000},
		{"full but for others", func(t *testing.T) (string, func()) {
			dir := mountTmpfs(t, "size=1m")
			must(t, os.WriteFile(dir+"/filler", make([]byte, 1<<19), 0o600))
			return dir + "/spill", func() { must(t, os.Remove(dir+"/filler")) }
		}, spill.LowSpace, 300_000},
		{"without inodes", func(t *testing.T) (string, func()) {
			dir := mountTmpfs(t, "size=4m,nr_inodes=6") // root, directory, lock, manifest, these
			must(t, os.MkdirAll(dir+"/filler/filler", 0o700))
			return dir + "/spill", func() { must(t, os.RemoveAll(dir+"/filler")) }
		}, spill.NoInodes, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, repair := c.arrange(t)
			keep := "0"
			if c.cause == spill.LowSpace {
				keep = "100KiB"
			}
			a := startAgentOn(t, dir, "--spill-keep-free", keep)
			conn := a.dial(t)
			raw := seq(1, 90_000) // 528894 bytes
			spec := client.Spec{ID: "first", Command: "seq 1 90000; exit 5"}
			o := run(t, conn, spec)
			checkExit(t, o, 5)
			checkWant(t, o, wantView(raw, raw, spec.Limits))
			checkKept(t, o.result, raw, c.cause)
			if c.cause != "" && o.result.SpillError.SafeBytes < c.least {
				t.Errorf("%d bytes are safe, want at least %d", o.result.SpillError.SafeBytes, c.least)
			}
			if repair == nil {
				return
			}
			repair()
			again := run(t, conn, client.Spec{ID: "second", Command: "seq 1 20000"})
			checkKept(t, again.result, seq(1, 20_000), "")
		})
	}
}

// A file system that gets full while the command prints (C25).
func TestDiskFillsUp(t *testing.T) {
	t.Parallel()
	dir := mountTmpfs(t, "size=1m")
	a := startAgentOn(t, dir+"/spill", "--spill-keep-free", "0")
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		raw := seq(1, 300_000) // 2 MB
		spec := client.Spec{Command: "seq 1 300000; exit 7", Pipe: pipe}
		o := run(t, conn, spec)
		checkExit(t, o, 7)
		checkWant(t, o, wantView(raw, raw, spec.Limits))
		checkKept(t, o.result, raw, spill.DiskFull)
		must(t, os.Remove(o.result.SpillPath))
	})
	if !strings.Contains(a.said.String(), "memory") {
		t.Errorf("the agent said %q, want a warning that its spill directory is in memory", a.said)
	}
}

// A limit on the size of files is trouble like any other, not the agent's end.
func TestFileSizeLimit(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	limit := unix.Rlimit{Cur: 100_000, Max: 100_000}
	must(t, unix.Prlimit(a.pid, unix.RLIMIT_FSIZE, &limit, nil))
	o := run(t, a.dial(t), client.Spec{Command: "seq 1 100000"})
	checkExit(t, o, 0)
	checkKept(t, o.result, seq(1, 100_000), spill.SizeLimit)
	if o.result.SpillError.SafeBytes != 100_000 {
		t.Errorf("%d bytes are safe, want 100000", o.result.SpillError.SafeBytes)
	}
}

// An agent that may not write there, and is no root to do it nevertheless.
func TestSpillPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("becoming another user takes root")
	}
	const nobody = 65534
	dir := shortTempDir(t)
	must(t, os.Chmod(dir, 0o755))
	program, err := os.ReadFile(execagentPath())
	must(t, err)
	must(t, os.WriteFile(dir+"/execagent", program, 0o755))
	must(t, os.Mkdir(dir+"/spill", 0o500))
	must(t, os.Chown(dir, nobody, nobody))
	must(t, os.Chown(dir+"/spill", nobody, nobody))
	a := startAgentFor(t, dir, nobody)
	conn := a.dial(t)
	o := run(t, conn, client.Spec{ID: "first", Command: "seq 1 20000; exit 5"})
	checkExit(t, o, 5)
	checkKept(t, o.result, seq(1, 20_000), spill.Denied)
	must(t, os.Chmod(dir+"/spill", 0o700))
	again := run(t, conn, client.Spec{ID: "second", Command: "seq 1 20000"})
	checkKept(t, again.result, seq(1, 20_000), "")
}

// The file of a command that prints without end is cut at its very byte, and the counting goes
// on (C26, C09).
func TestSpillQuotaOfAFile(t *testing.T) {
	t.Parallel()
	const quota = 4 << 20
	a := startAgentOn(t, shortTempDir(t)+"/spill", "--spill-max-file", "4MiB")
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		o := run(t, conn, client.Spec{Command: "yes abcdefg", Timeout: 2 * time.Second, Pipe: pipe})
		if o.result.Reason != protocol.ReasonTimeout {
			t.Errorf("reason %s, want %s", o.result.Reason, protocol.ReasonTimeout)
		}
		total := o.result.Truncation.TotalBytes
		if total <= quota || o.result.Truncation.TotalLines != (total+7)/8 {
			t.Errorf("%d bytes, %d lines: want more than %d bytes and a line each 8", total, o.result.Truncation.TotalLines, quota)
		}
		checkKept(t, o.result, bytes.Repeat([]byte("abcdefg\n"), quota/8), spill.FileQuota)
		if o.result.SpillError.SafeBytes != quota || !strings.Contains(o.result.SpillError.Message, fmt.Sprint(quota)) {
			t.Errorf("%+v, want a cut at byte %d", *o.result.SpillError, quota)
		}
		if v := o.view.SpillError; v == nil || *v != *o.result.SpillError {
			t.Errorf("the view says %+v, the result %+v", v, *o.result.SpillError)
		}
	})
}

// However many commands run, the directory stays within its quota (C26).
func TestSpillQuotaOfTheStore(t *testing.T) {
	t.Parallel()
	const quota = 2 << 20
	dir := shortTempDir(t) + "/spill"
	a := startAgentOn(t, dir, "--spill-max-total", fmt.Sprint(quota))
	conn := a.dial(t)
	live := start(t, conn, client.Spec{ID: "live", Command: "seq 1 20000; cat", Stdin: client.StdinPipe})
	attachUntil(t, conn, "live", "20000\n")
	for i := range times(t, "EXECAGENT_TEST_COMMANDS", 60) {
		o := run(t, conn, client.Spec{Command: "seq 1 20000", Pipe: i%2 == 0})
		checkKept(t, o.result, seq(1, 20_000), "")
		if got := diskUsage(t, dir); got > quota {
			t.Fatalf("after %d commands the directory takes %d bytes, want at most %d", i+1, got, quota)
		}
	}
	must(t, live.Stdin().Close())
	result, err := live.Wait()
	must(t, err)
	checkKept(t, result, seq(1, 20_000), "") // a live one never goes
}

// attachUntil follows a command until its view ends in the text, and leaves it then.
func attachUntil(t *testing.T, conn *client.Conn, id, text string) *client.Command {
	t.Helper()
	cmd := attach(t, conn, id)
	for _, err := range cmd.Batches() {
		must(t, err)
		if v := cmd.View(); strings.HasSuffix(v.Text+v.Live, text) {
			break
		}
	}
	return cmd
}

// diskUsage is what the files in a directory hold, in bytes.
func diskUsage(t *testing.T, dir string) (n int64) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		} else if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err
	}))
	return n
}

// Nobody else can read what was kept, whatever the umask (C27).
func TestSpillIsPrivate(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t) + "/spill"
	a := startAgentAs(t, under("umask 000", "--spill-dir", dir))
	o := run(t, a.dial(t), client.Spec{Command: "seq 1 20000"})
	for path, want := range map[string]os.FileMode{dir: 0o700 | os.ModeDir, o.result.SpillPath: 0o600} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want mode %v", path, info, err, want)
		}
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v, want mode 0600", e.Name(), info, err)
		}
	}
}

// A command whose output has to be kept is ended when it cannot be, with all that comes of it.
func TestSpillStrict(t *testing.T) {
	t.Parallel()
	a := startAgentOn(t, shortTempDir(t)+"/spill", "--spill-max-file", "100KiB")
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		o := run(t, conn, client.Spec{Command: "sleep 600 & trap '' TERM; seq 1 100000; sleep 600", SpillStrict: true, Pipe: pipe, Grace: time.Second})
		if o.result.Reason != protocol.ReasonSpillFailed || o.result.ExitCode != 137 {
			t.Errorf("reason %s, exit code %d, want %s, 137", o.result.Reason, o.result.ExitCode, protocol.ReasonSpillFailed)
		}
		if left := a.commands(t); len(left) > 0 {
			t.Errorf("%+v are alive", left)
		}
		o = run(t, conn, client.Spec{Command: "seq 1 100000; exit 3", SpillStrict: true, Pipe: pipe})
		if o.result.Reason != protocol.ReasonSpillFailed {
			t.Errorf("one that has exited: reason %s, want %s", o.result.Reason, protocol.ReasonSpillFailed)
		}
		o = run(t, conn, client.Spec{Command: "seq 1 10000; exit 3", SpillStrict: true, Pipe: pipe})
		if o.result.Reason != protocol.ReasonExited || o.result.ExitCode != 3 {
			t.Errorf("one that is kept: reason %s, exit code %d, want %s, 3", o.result.Reason, o.result.ExitCode, protocol.ReasonExited)
		}
	})
}

// The file of a command that runs has what its view shows.
func TestSpillFollowsTheView(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	cmd := start(t, conn, client.Spec{ID: "x", Command: "seq 1 5000; cat", Stdin: client.StdinPipe})
	path := attachUntil(t, conn, "x", "\n5000\n").View().SpillPath
	eventually(t, "the file has what the view shows", func() bool {
		b, err := os.ReadFile(path)
		return err == nil && bytes.Equal(b, seq(1, 5000))
	})
	must(t, cmd.Stdin().Close())
	if _, err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// under has the agent started by a shell that does something first.
func under(first string, flags ...string) func(cmd *exec.Cmd) {
	return func(cmd *exec.Cmd) {
		args := append([]string{"sh", "-c", first + `; exec "$0" "$@"`}, cmd.Args...)
		cmd.Path, cmd.Args = "/bin/sh", append(args, flags...)
	}
}

// startAgentOn starts an agent with this spill directory and these flags.
func startAgentOn(t testing.TB, dir string, flags ...string) *agent {
	t.Helper()
	a := startAgentAs(t, func(cmd *exec.Cmd) {
		cmd.Args = append(append(cmd.Args, "--spill-dir", dir), flags...)
	})
	a.spillDir = dir
	return a
}

// startAgentFor starts the agent in a directory as another user, with its socket and spill there.
func startAgentFor(t testing.TB, dir string, uid uint32) *agent {
	t.Helper()
	return startAgentAs(t, func(cmd *exec.Cmd) {
		must(t, os.Chown(filepath.Dir(strings.TrimPrefix(cmd.Args[3], "unix:")), int(uid), int(uid)))
		cmd.Path, cmd.Args = dir+"/execagent", append(cmd.Args, "--spill-dir", dir+"/spill")
		cmd.Dir = "/"
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: uid}
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
