//go:build linux

package proctree

import (
	"os"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkTrue is a whole `true`: compare "none", which only forks and waits, with the rest.
func BenchmarkTrue(b *testing.B) {
	b.Run("none", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			attr := &syscall.SysProcAttr{Setsid: true}
			awaitTrue(b, runTrue(b, attr, os.Environ()))
		}
	})
	for _, bm := range []struct {
		name      string
		method    Method
		subreaper bool
	}{
		{"cgroup", MethodCgroup, true},
		{"walk", MethodWalk, true},
		{"walk-embedded", MethodWalk, false},
	} {
		b.Run(bm.name, func(b *testing.B) {
			m := manager(b, bm.method, bm.subreaper)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				t, err := m.NewTree("b"+strconv.Itoa(n), Limits{})
				if err != nil {
					b.Fatal(err)
				}
				attr := &syscall.SysProcAttr{Setsid: true}
				pid := runTrue(b, attr, t.Configure(attr, os.Environ()))
				t.Started(pid)
				awaitTrue(b, pid)
				t.LeaderReaped()
				if !t.Empty() {
					b.Fatal("true has left something:", t.Members())
				}
				t.Release()
			}
		})
	}
}

func runTrue(b *testing.B, attr *syscall.SysProcAttr, env []string) int {
	pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{Env: env, Sys: attr})
	if err != nil {
		b.Fatal(err)
	}
	return pid
}

func awaitTrue(b *testing.B, pid int) {
	for {
		_, err := unix.Wait4(pid, nil, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			b.Fatal(err)
		}
		return
	}
}
