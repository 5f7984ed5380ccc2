//go:build linux

package execagent

// This file is what a command finds around it: its shell, its directory, its variables.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/execagent/execagent/transport/protocol"
)

// plainEnv asks programs for plain output: no colours, no pagers, no prompts.
var plainEnv = []string{
	"TERM=dumb",
	"NO_COLOR=1",
	"PAGER=cat",
	"GIT_PAGER=cat",
	"GH_PAGER=cat",
	"MANPAGER=cat",
	"SYSTEMD_PAGER=cat",
	"GIT_TERMINAL_PROMPT=0",
	"DEBIAN_FRONTEND=noninteractive",
}

// interactiveTerm is the terminal type of an interactive command whose client does not name
// its own: the agent's says nothing about it.
const interactiveTerm = "TERM=xterm-256color"

// ownEnvPrefix begins the names of the variables that configure the agent itself. No command
// inherits them.
const ownEnvPrefix = "EXECAGENT_"

// environment returns the command's variables: the agent's own, then the profile's, then the
// spec's, of each name the last.
func environment(spec *protocol.Spec, cwd string) []string {
	var all []string
	if !spec.CleanEnv {
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, ownEnvPrefix) {
				all = append(all, v)
			}
		}
	}
	if spec.EnvProfile == protocol.EnvPlain {
		all = append(all, plainEnv...)
	}
	if cwd != "" {
		all = append(all, "PWD="+cwd)
	}
	if spec.Interactive {
		all = append(all, interactiveTerm)
	}
	all = append(all, userEnv(spec.User)...)
	all = append(all, spec.Env...)
	last := make(map[string]int, len(all))
	for i, v := range all {
		last[name(v)] = i
	}
	env := all[:0]
	for i, v := range all {
		if last[name(v)] == i {
			env = append(env, v)
		}
	}
	return env
}

// userEnv is what login sets for a user. One without an entry in the password file gets none
// of it.
func userEnv(u *protocol.User) []string {
	if u == nil {
		return nil
	}
	entry, err := user.LookupId(strconv.FormatUint(uint64(u.UID), 10))
	if err != nil {
		return nil
	}
	return []string{"HOME=" + entry.HomeDir, "USER=" + entry.Username, "LOGNAME=" + entry.Username}
}

func name(variable string) string {
	n, _, _ := strings.Cut(variable, "=")
	return n
}

// findShell returns the path of the shell: the one asked for, else bash, else sh.
func findShell(asked string) (string, error) {
	if asked != "" {
		path, err := exec.LookPath(asked)
		if err != nil {
			return "", fmt.Errorf("shell %q: %w: name a shell that the agent's machine has, or none for bash or sh", asked, cause(err))
		}
		return path, nil
	}
	for _, path := range []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "bash", "/bin/sh", "sh"} {
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", errors.New("no shell: neither bash nor sh is in /bin, /usr/bin, /usr/local/bin or $PATH: install one, or name one with the spec's shell")
}

// checkDir returns the absolute path of the working directory; "" stays the agent's own.
func checkDir(cwd string) (string, error) {
	if cwd == "" {
		return "", nil
	}
	abs, err := filepath.Abs(cwd)
	if err != nil {
		return "", fmt.Errorf("cwd %q: %w", cwd, err)
	}
	info, err := os.Stat(abs)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return "", fmt.Errorf("cwd %q: %w: name a directory on the agent's machine", cwd, cause(err))
	}
	return abs, nil
}

// cause strips the wrapping that repeats the path.
func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	if ee := (*exec.Error)(nil); errors.As(err, &ee) {
		return ee.Err
	}
	return err
}
