//go:build linux

package proctree

// This file says who the kernel kills first when memory runs out (proc_pid_oom_score_adj(5)).

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// protected is the agent's oom_score_adj: after everything else, yet not exempt, for an agent
// that leaks must not take the machine with it.
const protected = -900

// ProtectFromOOM makes this process one of the last that the kernel kills for want of memory,
// and returns the score that its children should get back by [SetOOMScore]. Without
// CAP_SYS_RESOURCE it changes nothing and returns no error.
func ProtectFromOOM() (normal int, err error) {
	text, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return 0, fmt.Errorf("proctree: reading the OOM score: %w", err)
	}
	normal, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("proctree: reading the OOM score: %w", err)
	}
	if normal <= protected {
		return normal, nil
	}
	if err := SetOOMScore(os.Getpid(), protected); err != nil && !errors.Is(err, fs.ErrPermission) {
		return normal, err
	}
	return normal, nil
}

// SetOOMScore sets a process's oom_score_adj, -1000 to 1000. Called for a leader directly
// after its start, it leaves one gap: what the leader has forked by then keeps the agent's
// score. Raising a score needs no privilege, so this works wherever ProtectFromOOM did.
func SetOOMScore(pid, score int) error {
	if err := os.WriteFile(procPath(pid, "oom_score_adj"), []byte(strconv.Itoa(score)), 0); err != nil {
		return fmt.Errorf("proctree: setting the OOM score of %d: %w", pid, err)
	}
	return nil
}
