//go:build linux

package proctree

// This file marks the processes of a tree: the soft RLIMIT_LOCKS, which Linux has ignored since
// 2.4.25 (getrlimit(2)) but still hands from parent to child. Unlike the environment it
// survives exec, and a zombie still has it; unlike the session no call of a daemon changes it.

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A mark is marksOfProcess plus the tree's number. Bit 62 keeps it apart from real limits.
var (
	marksOfProcess = sync.OnceValue(func() uint64 { return 1<<62 | uint64(rand.Uint32N(1<<30))<<32 })
	treesMade      atomic.Uint32
)

func nextMark() uint64 { return marksOfProcess() | uint64(treesMade.Add(1)) }

// ours reports whether a mark was given by this process.
func ours(mark uint64) bool { return mark>>32 == marksOfProcess()>>32 }

// setMark marks the process. Another user's needs CAP_SYS_RESOURCE, and a hard limit may be in
// the way; then the other signs remain.
func setMark(pid int, mark uint64) {
	var has unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &has) == nil && has.Max >= mark {
		_ = unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: mark, Max: has.Max}, nil)
	}
}

// getMark is the process's mark, or its plain limit; 0 when it cannot be read.
func getMark(pid int) uint64 {
	var has unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &has) != nil {
		return 0
	}
	return has.Cur
}

// markAll marks the members there are, until those that were forked meanwhile are marked too.
func (t *Tree) markAll() {
	const most = 8 // walks; what forks faster than that has its cookie
	for range most {
		missing := 0
		t.walk(func(s *stat) {
			if getMark(s.pid) != t.mark {
				missing++
				setMark(s.pid, t.mark)
			}
		})
		if missing == 0 {
			return
		}
	}
}
