//go:build linux

package execagent

// This file is what is executed for a spec: the program and its arguments.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/execagent/execagent/transport/protocol"
)

// maxArgument is the longest argument in bytes that Linux takes (MAX_ARG_STRLEN less its NUL).
const maxArgument = 128<<10 - 1

// program returns the path to execute and its arguments.
func program(spec *protocol.Spec, dir string, env []string) (path string, argv []string, err error) {
	if len(spec.Argv) > 0 {
		path, err = lookPath(spec.Argv[0], dir, env)
		return path, spec.Argv, err
	}
	path, err = findShell(spec.Shell)
	return path, shellArguments(path, spec.Command), err
}

// shellArguments are those of "SHELL -c COMMAND". A command too long for one argument goes in
// pieces that the shell itself puts together again, so that neither a file nor a descriptor
// is left lying about; "set --" takes them back out of the command's sight.
func shellArguments(shell, command string) []string {
	if len(command) <= maxArgument {
		return []string{shell, "-c", command}
	}
	var pieces []string
	var join strings.Builder
	join.WriteString("eval \"set --\n")
	for n := 1; len(command) > 0; n++ {
		size := min(len(command), maxArgument)
		pieces = append(pieces, command[:size])
		command = command[size:]
		fmt.Fprintf(&join, "${%d}", n)
	}
	join.WriteString("\"")
	return append([]string{shell, "-c", join.String(), shell}, pieces...)
}

// lookPath finds a program as the command's own environment would.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil // relative to dir, where it is executed
	}
	path := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		full := filepath.Join(d, name)
		if info, err := os.Stat(full); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return full, nil
		}
	}
	return "", fmt.Errorf("program %q: not found in PATH %s: install it, or name it by its path", name, path)
}

// startError says what could not be started and what to do about it.
func startError(path string, spec *protocol.Spec, dir string, err error) error {
	as := ""
	if spec.User != nil {
		as = fmt.Sprintf(" as user %d, group %d", spec.User.UID, spec.User.GID)
	}
	remedy := ""
	switch {
	case errors.Is(err, syscall.E2BIG):
		remedy = fmt.Sprintf(": command and environment have more bytes than the kernel takes (%d in the command): put it in a file and run that", len(spec.Command))
	case errors.Is(err, fs.ErrPermission) && spec.User != nil && os.Geteuid() != 0:
		remedy = ": only an agent that runs as root can"
	case errors.Is(err, fs.ErrPermission):
		remedy = fmt.Sprintf(": the program, or the directory %q, is not accessible", dir)
	case errors.Is(err, syscall.ENOEXEC):
		remedy = ": not a program: give it a #! line, or run it by a shell"
	}
	return fmt.Errorf("start %s%s: %w%s", path, as, err, remedy)
}
