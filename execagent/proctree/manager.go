//go:build linux

package proctree

// This file is the Manager: it chooses the method and makes trees.

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Method is how the processes of a tree are found.
type Method string

const (
	// MethodCgroup gives each tree a cgroup of its own.
	MethodCgroup Method = "cgroup"
	// MethodWalk reads /proc.
	MethodWalk Method = "walk"
)

// Options are what [New] needs to know.
type Options struct {
	// Instance names this agent among all that run or ran on the machine: 1 to 64 letters,
	// digits, ".", "_" and "-". It is part of the cookie and of the cgroup's name.
	Instance string
	// Subreaper makes this process adopt and reap the orphans of its descendants. It is for
	// a daemon, PID 1 included, never for a program that embeds an agent: that one may
	// wait for children it does not know.
	Subreaper bool
	// Method is "" for the best that works here.
	Method Method
	// Logger is told which method is in use and why; nil discards it.
	Logger *slog.Logger
}

// ErrNoCgroup is wrapped by the error of [New] when [MethodCgroup] was asked for and cannot
// be had.
var ErrNoCgroup = errors.New("no usable cgroup v2 hierarchy")

// Manager makes trees. [New] makes it; it is safe for concurrent use; its maker calls Close.
type Manager struct {
	log      *slog.Logger
	instance string
	base     *base   // nil: walk
	reaper   *reaper // nil: not a subreaper

	mu     sync.Mutex // guards the rest; held while directories are removed
	closed bool
	// leftovers are the cgroups of released trees that still had processes.
	leftovers []*cgroup
}

// New prepares this process for trees. Without cgroups it falls back to the walk, unless
// o.Method names one. It fails when /proc does not show this process's pid namespace.
func New(o Options) (*Manager, error) {
	if err := checkName(o.Instance, maxInstance); err != nil {
		return nil, fmt.Errorf("proctree: instance %q: %w", o.Instance, err)
	}
	if err := checkProc(); err != nil {
		return nil, err
	}
	m := &Manager{log: o.Logger, instance: o.Instance}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	if err := m.choose(o); err != nil {
		return nil, err
	}
	if o.Subreaper {
		r, err := acquireReaper()
		if err != nil {
			m.Close()
			return nil, err
		}
		m.reaper = r
	}
	m.log.Info("process trees", "method", m.Method(), "subreaper", o.Subreaper)
	return m, nil
}

func (m *Manager) choose(o Options) error {
	switch o.Method {
	case MethodWalk:
		return nil
	case "", MethodCgroup:
	default:
		return fmt.Errorf("proctree: unknown method %q: use %q, %q or none", o.Method, MethodCgroup, MethodWalk)
	}
	b, err := newBase(o.Instance, o.Subreaper)
	switch {
	case err == nil:
		m.base = b
	case o.Method == MethodCgroup:
		return fmt.Errorf("proctree: %w: %w", ErrNoCgroup, err)
	default:
		m.log.Info("no cgroups for commands; /proc is walked instead", "cause", err)
	}
	return nil
}

// checkProc refuses a /proc of another pid namespace: every pid in it would be a stranger's.
func checkProc() error {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return fmt.Errorf("proctree: reading /proc/self: %w: mount proc on /proc", err)
	}
	if self != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("proctree: /proc calls this process %q and it is %d: mount proc on /proc inside this pid namespace", self, os.Getpid())
	}
	return nil
}

const (
	maxInstance = 64  // bytes
	maxID       = 128 // bytes
)

func checkName(name string, most int) error {
	if name == "" || len(name) > most {
		return fmt.Errorf("%d bytes: use 1 to %d", len(name), most)
	}
	for _, c := range []byte(name) {
		if !strings.ContainsRune("-._", rune(c)) && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return errors.New("use letters, digits, \".\", \"_\" and \"-\"")
		}
	}
	return nil
}

// Method is what is in use.
func (m *Manager) Method() Method {
	if m.base != nil {
		return MethodCgroup
	}
	return MethodWalk
}

// NewTree prepares for one command. The id, 1 to 128 bytes of what an instance may hold, must
// not be in use by another tree that is alive. A limit that cannot be had is a [*LimitError].
// The caller calls [Tree.Release], also when the start fails.
func (m *Manager) NewTree(id string, lim Limits) (*Tree, error) {
	if err := checkName(id, maxID); err != nil {
		return nil, fmt.Errorf("proctree: tree %q: %w", id, err)
	}
	if err := lim.check(); err != nil {
		return nil, err
	}
	t := &Tree{m: m, cookie: m.instance + "/" + id, mark: nextMark(), seen: make(map[int]uint64), zombies: make(map[ident]bool)}
	if m.base == nil {
		return t, lim.without()
	}
	if err := m.base.enable(lim); err != nil {
		return nil, err
	}
	group, err := m.base.newGroup(lim)
	if err != nil {
		return nil, err
	}
	t.group = group
	return t, nil
}

// retries bounds the work of one release: so many leftovers are looked at.
const retries = 4

// release gives up a tree's cgroup, or keeps it for later. Nothing waits for leftovers to
// end: an empty cgroup costs little, and each later release looks at some.
func (m *Manager) release(c *cgroup) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range min(retries, len(m.leftovers)) {
		old := m.leftovers[0]
		m.leftovers = m.leftovers[1:]
		if !old.remove() {
			m.leftovers = append(m.leftovers, old)
		}
	}
	if !c.remove() {
		m.leftovers = append(m.leftovers, c)
	}
}

// Prepare makes ahead what the next tree needs. It is called when there is time for it, and need not
// be.
func (m *Manager) Prepare() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed && m.base != nil {
		m.base.makeSpare()
	}
}

// Close gives up the Manager's cgroups and its part of the reaper, and waits for that. Cgroups
// in which processes live on stay; the next [New] that finds them empty removes them. It may
// be called twice.
func (m *Manager) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	m.leftovers = nil
	if m.base != nil && !m.base.close() {
		m.log.Info("processes of ended commands live on", "cgroup", m.base.dir)
	}
	if m.reaper != nil {
		releaseReaper()
	}
	return nil
}
