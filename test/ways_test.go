//go:build linux

package test

// This file goes every way in with the real programs.

import (
	"context"
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
	"github.com/execagent/execagent/transport"
)

// echoes checks that commands run there.
func echoes(t *testing.T, conn *client.Conn) {
	t.Helper()
	if o := run(t, conn, client.Spec{Command: "echo in"}); o.text() != "in\n" || o.result.ExitCode != 0 {
		t.Errorf("got %q and %+v", o.text(), o.result)
	}
}

func TestSeveralListeners(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	ca := newAuthority(t)
	cert, key := ca.pair(t, "agent", time.Hour)
	dir := shortTempDir(t)
	unix := "unix:" + filepath.Join(dir, "a")
	a := listenOn(t, unix, "--listen", "tcp:127.0.0.1:0", "--listen", "tls:127.0.0.1:0", "--token-file", s.path, "--tls-cert", cert, "--tls-key", key)
	eventually(t, "all three are served", func() bool { return strings.Count(a.said.String(), "serving on ") == 3 })
	for _, scheme := range []string{"unix:", "tcp:", "tls:"} {
		a.addr = scheme + a.said.after(t, "serving on "+scheme)
		echoes(t, a.dialAs(t, ca.options(t, s, "", "")))
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	ca, foreign := newAuthority(t), newAuthority(t)
	cert, key := ca.pair(t, "agent", time.Hour)
	a := listenOn(t, "tls:127.0.0.1:0", "--tls-cert", cert, "--tls-key", key, "--tls-ca", ca.path) // and no token
	for _, c := range []struct {
		name  string
		from  *authority
		valid time.Duration
		says  string
	}{
		{"good", ca, time.Hour, ""},
		{"expired", ca, -time.Hour, "tls: "},
		{"foreign", foreign, time.Hour, "tls: "},
		{"none", nil, 0, "certificate required"},
	} {
		var clientCert, clientKey string
		if c.from != nil {
			clientCert, clientKey = c.from.pair(t, c.name, c.valid)
		}
		conn, err := client.Dial(t.Context(), a.addr, ca.options(t, secret{}, clientCert, clientKey))
		if c.says == "" {
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			echoes(t, conn)
			conn.Close()
			continue
		}
		var he *transport.HandshakeError
		if !errors.As(err, &he) || he.Reason != transport.ReasonTLS || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one of TLS that says %q", c.name, err, c.says)
		}
	}
	expired, expiredKey := ca.pair(t, "old", -time.Hour)
	old := listenOn(t, "tls:127.0.0.1:0", "--tls-cert", expired, "--tls-key", expiredKey, "--tls-ca", ca.path)
	for name, from := range map[string]*authority{"expired": ca, "unknown authority": foreign} {
		addr := old.addr
		if from == foreign {
			addr = a.addr
		}
		if _, err := client.Dial(t.Context(), addr, from.options(t, secret{}, cert, key)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("an agent whose certificate is of an %s: %v", name, err)
		}
	}
}

// startConnecting starts an agent that dials, and ends it with the test.
func startConnecting(t *testing.T, addr string, flags ...string) {
	t.Helper()
	startAgentAs(t, func(cmd *exec.Cmd) {
		cmd.Args = append([]string{cmd.Args[0], "connect", addr, "--spill-dir", filepath.Join(t.TempDir(), "spill")}, flags...)
	})
}

func TestDialOut(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	ca := newAuthority(t)
	cert, key := ca.pair(t, "client", time.Hour)
	for _, addr := range []string{"tcp:127.0.0.1:0", "tls:127.0.0.1:0"} {
		t.Run(addr[:3], func(t *testing.T) {
			l, err := client.Listen(t.Context(), addr, ca.listening(t, s, cert, key))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			startConnecting(t, l.Address(), "--token-file", s.path, "--tls-ca", ca.path, "--tls-server-name", "localhost")
			id := client.NewID()
			var instance string
			for round := range 2 { // the connection ends, the agent dials again, and the command went on
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				conn, err := l.Accept(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if round == 0 {
					instance = conn.Peer().Instance
					start(t, conn, client.Spec{ID: id, Command: "echo on; exec sleep 300"})
				} else {
					if got := conn.Peer().Instance; got != instance {
						t.Errorf("instance %q, want the same as before, %q", got, instance)
					}
					if err := conn.Cancel(ctx, id); err != nil {
						t.Errorf("cancelling what was started before: %v", err)
					}
				}
				echoes(t, conn)
				conn.Close()
			}
		})
	}
}

func TestExecctlAccepts(t *testing.T) {
	t.Parallel()
	s := newSecret(t)
	addr := "unix:" + filepath.Join(shortTempDir(t), "s")
	startConnecting(t, addr, "--token-file", s.path) // before anybody listens
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	for _, code := range []int{0, 9} {
		cmd := exec.CommandContext(ctx, execctlPath(), "run", "--accept", addr, "--token-file", s.path, "--", fmt.Sprintf("echo in; exit %d", code))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if string(out) != "in\n" || cmd.ProcessState.ExitCode() != code {
			t.Errorf("%q, %v, %q; want exit code %d", out, err, stderr.String(), code)
		}
		if want := "execctl: waiting for an agent at " + addr + "\n"; stderr.String() != want {
			t.Errorf("stderr %q, want %q", stderr.String(), want)
		}
	}
}

// TestInheritedSocket starts the agent as a service manager does: the socket is there first, and
// the program is executed with the number of its own process in the environment.
func TestInheritedSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(shortTempDir(t), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 10))
	}
	if err != nil {
		t.Fatal(err)
	}
	socket := os.NewFile(uintptr(fd), path)
	defer socket.Close()
	a := startAgentAs(t, func(cmd *exec.Cmd) {
		cmd.Args[3] = "systemd:"
		cmd.Args = append([]string{"sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
		cmd.ExtraFiles = []*os.File{socket}
	})
	a.addr = "unix:" + path
	conn := a.dial(t)
	echoes(t, conn)
	if o := run(t, conn, client.Spec{Command: "env | grep ^LISTEN_; ls -l /proc/self/fd | grep socket"}); o.text() != "" {
		t.Errorf("a command sees %q", o.text())
	}
}

// TestFloodOnTheWire bounds what a gigabyte's worth of time costs the link: under 100 kB in the
// eight seconds that it takes, and a window every 2.6 s for as long as a slow machine needs.
func TestFloodOnTheWire(t *testing.T) {
	a := startAgent(t)
	for _, pipe := range []bool{false, true} {
		conn := a.dial(t)
		o := run(t, conn, client.Spec{
			Command: `i=0; while [ $i -lt 80 ]; do i=$((i+1)); seq -f 'line %.0f of some length, as a build prints it' ${i}0000 ${i}9999; done`,
			Pipe:    pipe, NoSpill: true,
		})
		most := 60e3 + 8e3*o.result.Seconds
		if wire := float64(conn.WireBytes()); wire > most {
			t.Errorf("pipe %v: %.0f bytes on the wire in %.1f s, want at most %.0f", pipe, wire, o.result.Seconds, most)
		}
	}
}
