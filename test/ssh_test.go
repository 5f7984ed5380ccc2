//go:build linux

package test

// This file reaches the agent through a real ssh, to a server of its own on the loopback interface.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport"
)

// sshServer is an sshd for this user alone.
type sshServer struct {
	dir  string
	port string
	said *strings.Builder
}

// startSSH starts an sshd in a temporary directory, with keys of its own. The test's end ends it.
func startSSH(t *testing.T) *sshServer {
	t.Helper()
	sshd := findTool(t, "sshd", "openssh-server")
	keygen := findTool(t, "ssh-keygen", "openssh-client")
	findTool(t, "ssh", "openssh-client")
	s := &sshServer{dir: shortTempDir(t), port: freePort(t), said: new(strings.Builder)}
	for _, name := range []string{"host", "user"} {
		if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", s.path(name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	public, err := os.ReadFile(s.path("user.pub"))
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.ReadFile(s.path("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "authorized", string(public))
	s.write(t, "known", fmt.Sprintf("[127.0.0.1]:%s %s", s.port, host))
	s.write(t, "sshd_config", strings.Join([]string{
		"ListenAddress 127.0.0.1:" + s.port,
		"HostKey " + s.path("host"),
		"AuthorizedKeysFile " + s.path("authorized"),
		"PidFile none", "UsePAM no", "StrictModes no", "PasswordAuthentication no",
		"KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password", "LogLevel VERBOSE", "",
	}, "\n"))
	if os.Geteuid() == 0 { // where it locks itself in before it knows the user
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Skipf("sshd needs /run/sshd: %v", err)
		}
	}
	cmd := exec.Command(sshd, "-D", "-e", "-f", s.path("sshd_config"))
	cmd.Stderr = s.said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("sshd said:\n%s", s.said)
		}
	})
	eventually(t, "sshd listens", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return s
}

// findTool returns the path of a program, or skips where it cannot be had.
func findTool(t *testing.T, name, pkg string) string {
	t.Helper()
	for _, path := range []string{name, "/usr/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	t.Skipf("no %s here: install the package %s", name, pkg)
	return ""
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func (s *sshServer) path(name string) string { return filepath.Join(s.dir, name) }

func (s *sshServer) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// address is the agent at the other end, which is started with these arguments.
func (s *sshServer) address(flags string, args ...string) string {
	return fmt.Sprintf("stdio:ssh -F none %s -p %s -i %s -o IdentitiesOnly=yes -o UserKnownHostsFile=%s -o BatchMode=yes 127.0.0.1 %s %s",
		flags, s.port, s.path("user"), s.path("known"), execagentPath(), strings.Join(args, " "))
}

func TestSSH(t *testing.T) {
	t.Parallel()
	s := startSSH(t)
	spillDir := filepath.Join(t.TempDir(), "spill")
	addr := s.address("", "stdio", "--spill-dir", spillDir)

	t.Run("library", func(t *testing.T) {
		conn, err := client.Dial(t.Context(), addr, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		o := run(t, conn, client.Spec{Command: "seq 1 100000; echo $SSH_CONNECTION >/dev/null; exit 3"})
		if o.result.ExitCode != 3 || o.result.Truncation.TotalBytes != 588895 || !strings.HasSuffix(o.text(), "\n100000\n") {
			t.Errorf("got %+v", o.result)
		}
		if spill := spilled(t, o.result); len(spill) != 588895 {
			t.Errorf("the spill has %d bytes, want 588895", len(spill))
		}
	})
	t.Run("execctl", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		out, err := exec.CommandContext(ctx, execctlPath(), "run", "--addr", addr, "--", "echo over ssh; exit 7").Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 7 || string(out) != "over ssh\n" {
			t.Errorf("%q, %v; want the text and exit code 7", out, err)
		}
	})
	t.Run("token", func(t *testing.T) {
		secret := newSecret(t)
		guarded := s.address("", "stdio", "--spill-dir", spillDir, "--token-file", secret.path)
		if _, err := client.Dial(t.Context(), guarded, client.Options{}); err == nil || !strings.Contains(err.Error(), "asks for a token") {
			t.Errorf("without the token: %v", err)
		}
		conn, err := client.Dial(t.Context(), guarded, client.Options{Token: secret.token(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if o := run(t, conn, client.Spec{Command: "echo in"}); o.text() != "in\n" {
			t.Errorf("with it: %q", o.text())
		}
	})
	t.Run("ssh's terminal", func(t *testing.T) { // what people do wrong: -t
		_, err := client.Dial(t.Context(), s.address("-tt", "stdio", "--spill-dir", spillDir), client.Options{})
		var he *transport.HandshakeError
		if !errors.As(err, &he) || !strings.Contains(err.Error(), "no terminal in between") {
			t.Errorf("error %v, want one with the remedy", err)
		}
	})
	t.Run("no such program", func(t *testing.T) {
		bad := strings.Replace(addr, execagentPath(), "/no/such/execagent", 1)
		_, err := client.Dial(t.Context(), bad, client.Options{})
		var he *transport.HandshakeError
		if !errors.As(err, &he) || !strings.Contains(err.Error(), "exit status 127") {
			t.Errorf("error %v, want one with ssh's exit code", err)
		}
	})
}
