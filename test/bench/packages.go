// Programs of the system: found, or installed where that is possible.

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// systemProgram returns the path of a program. Where it is missing, root can install the Debian
// package that has it.
func systemProgram(ctx context.Context, name, debian string) (string, error) {
	path, err := findProgram(name)
	if err == nil {
		return path, nil
	}
	if os.Getuid() != 0 {
		return "", fmt.Errorf("%w: install %s", err, debian)
	}
	apt := exec.CommandContext(ctx, "sh", "-c", "apt-get update -qq && apt-get install -qqy "+debian)
	apt.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := apt.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install %s for %s: %w: %s", debian, name, err, lastLine(out))
	}
	return findProgram(name)
}

// findProgram looks also where only root has programs.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		if found, e := exec.LookPath("/usr/sbin/" + name); e == nil {
			return found, nil
		}
	}
	return path, err
}
