// OpenSSH: how commands are run elsewhere, with nothing kept there.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// sshPrograms are the paths of OpenSSH's programs.
type sshPrograms struct{ ssh, sshd, keygen string }

func sshSides(ctx context.Context, w *workshop) []side {
	var p sshPrograms
	var err error
	for _, need := range []struct {
		path         *string
		name, debian string
	}{
		{&p.ssh, "ssh", "openssh-client"},
		{&p.keygen, "ssh-keygen", "openssh-client"},
		{&p.sshd, "sshd", "openssh-server"},
	} {
		if err == nil {
			*need.path, err = systemProgram(ctx, need.name, need.debian)
		}
	}
	return []side{
		{name: "OpenSSH, PTY", mode: pty, peer: true, absent: err, run: p.side(w.temp, "-tt")},
		{name: "OpenSSH, no PTY", mode: pipe, peer: true, absent: err, run: p.side(w.temp)},
	}
}

// side returns the run of a side: a fresh server on the loopback, and a client that throws the
// output away.
func (p sshPrograms) side(temp string, flags ...string) func(context.Context, input, string) (sample, error) {
	return func(ctx context.Context, in input, _ string) (sample, error) {
		dir, err := os.MkdirTemp(temp, "ssh-")
		if err != nil {
			return sample{}, err
		}
		addr, err := p.configure(ctx, dir)
		if err != nil {
			return sample{}, err
		}
		server, err := startServer(exec.CommandContext(ctx, p.sshd, "-D", "-e", "-f", filepath.Join(dir, "sshd")),
			func() bool { return accepts("tcp", addr) })
		if err != nil {
			return sample{}, err
		}
		var said bytes.Buffer
		client := exec.CommandContext(ctx, p.ssh, append(flags, "-F", filepath.Join(dir, "ssh"), "-v", "bench", in.command())...)
		use, err := measureWith(client, &said)
		cost, stopErr := server.finish()
		if err := errors.Join(err, stopErr); err != nil {
			return sample{}, err
		}
		wire, err := transferred(said.Bytes())
		if err == nil && wire < in.bytes {
			err = fmt.Errorf("ssh received %d bytes of %d", wire, in.bytes)
		}
		return sample{use.wall.Seconds(), (use.cpu + cost.cpu).Seconds(), use.peakKiB, wire}, err
	}
}

// configure writes keys and settings for both sides and returns the server's address.
func (p sshPrograms) configure(ctx context.Context, dir string) (addr string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	addr = listener.Addr().String()
	_, port, err := net.SplitHostPort(addr)
	if err := errors.Join(err, listener.Close()); err != nil {
		return "", err
	}
	for _, key := range []string{"host", "user"} {
		if out, err := exec.CommandContext(ctx, p.keygen, "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			return "", fmt.Errorf("make a key: %w: %s", err, lastLine(out))
		}
	}
	if os.Geteuid() == 0 { // where sshd locks itself in before it knows the user
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return "", err
		}
	}
	for name, lines := range map[string][]string{
		"sshd": {
			"ListenAddress " + addr,
			"HostKey " + filepath.Join(dir, "host"),
			"AuthorizedKeysFile " + filepath.Join(dir, "user.pub"),
			"PidFile none", "UsePAM no", "StrictModes no", "PasswordAuthentication no",
			"KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password",
		},
		"ssh": {
			"Host bench", "HostName 127.0.0.1", "Port " + port,
			"IdentityFile " + filepath.Join(dir, "user"), "IdentitiesOnly yes", "BatchMode yes",
			"StrictHostKeyChecking no", "UserKnownHostsFile /dev/null",
		},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			return "", err
		}
	}
	return addr, nil
}

var transferredLine = regexp.MustCompile(`Transferred: sent \d+, received (\d+) bytes`)

// transferred finds in what ssh -v says how many bytes came over the connection.
func transferred(said []byte) (int64, error) {
	m := transferredLine.FindSubmatch(said)
	if m == nil {
		return 0, fmt.Errorf("ssh does not say what it transferred: %s", lastLine(said))
	}
	return strconv.ParseInt(string(m[1]), 10, 64)
}
