// Package proctree finds, signals and kills every process of one execution, and reads what
// they used.
//
// Make one [Manager] with [New], a [Tree] for each execution with [Manager.NewTree], start the
// command with what [Tree.Configure] sets, and tell the tree its pid with [Tree.Started]. From
// then on [Tree.Empty], [Tree.Members], [Tree.Signal] and [Tree.Kill] speak of the command and
// of all it has started, however it was started.
//
//	tree, err := m.NewTree("build-7", proctree.Limits{})
//	attr := &syscall.SysProcAttr{Setsid: true}
//	env := tree.Configure(attr, os.Environ())
//	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: env, Sys: attr})
//	tree.Started(pid)
//	…                   // wait for it with WNOWAIT
//	tree.Kill(ctx)
//	…                   // wait4(pid)
//	tree.LeaderReaped()
//	tree.Release()
//
// # Shape
//
//	manager.go   New: which method; NewTree
//	tree.go      one execution's processes; each question goes to one of the two methods
//	base.go      ─▶ a cgroup of the Manager's own, swept by the next one
//	cgroup.go       and in it one for each tree: the kernel keeps the members
//	mounts.go       where that hierarchy is mounted
//	limits.go       memory and pids controllers
//	walk.go      ─▶ /proc read from end to end: members are recognised
//	mark.go         by a resource limit nobody uses, which every descendant inherits
//	cookie.go       by a variable in the environment
//	proc.go         what /proc says of one process
//	empty.go     the question that needs no walk
//	signal.go    a signal to one process and no other
//	kill.go      SIGKILL until nothing is left
//	leaders.go   children that somebody waits for
//	reaper.go    orphans that this process has adopted
//	oom.go       who the kernel kills first
//
// # The two methods
//
// A cgroup holds whatever is forked inside it, cgroup.kill ends all of it at once, and nothing
// an unprivileged command does leads out of it. It needs cgroup2 with cgroup.kill (Linux 5.14),
// writable for this process.
//
// The walk reads /proc. A process is of the tree when it is the leader or in its session, has
// the tree's mark or cookie, descends from a member, shares a session with one, or was seen as
// one before. What it misses: a process that has left the session, cleared its environment and
// lost its parent, all that before [Tree.Started] has marked the leader (milliseconds on a
// loaded machine), or with another RLIMIT_LOCKS. Kill adds a walk to the cgroup's
// kill, because a privileged command can leave its cgroup.
//
// # Identity
//
// A process is a pid with its start time. Signals go through a pidfd that was opened first and
// checked second, so they never reach a process that was given the pid later; where the kernel
// has no pidfds (before 5.3), the check comes directly before kill(2).
//
// # Concurrency
//
// Everything is safe for concurrent use. A Manager with Subreaper shares one reaping goroutine
// with the others of the process; the last Close waits for it.
//
// # Trust
//
// Commands are hostile: their command lines are cleaned and cut, what they name is never
// opened by that name, files of /proc are read up to a constant. A process of the same user
// that copies another tree's cookie into its environment asks to be killed with that tree.
//
// # Not here
//
// Waiting for the leader, graces and timeouts are the caller's. The package is for Linux.
package proctree
