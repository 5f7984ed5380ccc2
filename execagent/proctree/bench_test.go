//go:build linux

package proctree

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

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
			var added time.Duration // in the package's calls; the clone into a cgroup is not among them
			for n := 0; b.Loop(); n++ {
				begin := time.Now()
				t, err := m.NewTree("b"+strconv.Itoa(n), Limits{})
				if err != nil {
					b.Fatal(err)
				}
				attr := &syscall.SysProcAttr{Setsid: true}
				env := t.Configure(attr, os.Environ())
				added += time.Since(begin)
				pid := runTrue(b, attr, env)
				begin = time.Now()
				t.Started(pid)
				added += time.Since(begin)
				awaitTrue(b, pid)
				begin = time.Now()
				t.LeaderReaped()
				if !t.Empty() {
					b.Fatal("true has left something:", t.Members())
				}
				t.Release()
				added += time.Since(begin)
			}
			b.ReportMetric(float64(added.Nanoseconds())/float64(b.N), "added-ns/op")
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
