//go:build linux

package proctree

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWalkWithoutMarks finds members by each other sign, one at a time: the commands change the
// limit that holds the mark, and clear the environment.
func TestWalkWithoutMarks(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		reapFirst    bool // the leader, which waits for a first look and ends
	}{
		{"session", `ulimit -Sx 7; env -i sleep $T & exit`, false},
		{"session of a reaped leader", `ulimit -Sx 7; env -i sleep $T & read <$SEEN`, true},
		{"descent", `ulimit -Sx 7; setsid env -i bash -c "sleep $T & wait" & wait`, false},
		{"cookie", `ulimit -Sx 7; setsid bash -c "setsid sleep $T & exit" & exit`, false},
		{"cookie of a reaped leader", `ulimit -Sx 7; setsid bash -c "setsid sleep $T & exit" & read <$SEEN`, true},
		{"session begun by a member once seen", `ulimit -Sx 7; setsid env -i bash -c "until [ -e $GO ]; do sleep 0.01; done; sleep $T & exit" & read <$SEEN`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := manager(t, MethodWalk, true)
			word, dir := tag(), t.TempDir()
			seen, signal := filepath.Join(dir, "seen"), filepath.Join(dir, "go")
			if err := unix.Mkfifo(seen, 0o600); err != nil {
				t.Fatal(err)
			}
			c := shell(t, m, "w", "T="+word+" SEEN="+seen+" GO="+signal+"; "+tc.script)
			if tc.reapFirst {
				await(t, "a member", func() bool { return len(c.Members()) > 0 })
				touch(t, seen)
				c.awaitExit()
				c.reap()
			}
			touch(t, signal)
			awaitSleeps(t, word, 1)
			await(t, "the sleep among the members", func() bool {
				for _, p := range c.Members() {
					if p.Command == "sleep "+word {
						return true
					}
				}
				return false
			})
			ctx, cancel := deadline()
			defer cancel()
			if left := c.Kill(ctx); len(left) > 0 {
				t.Errorf("Kill left %v", left)
			}
			c.wantGone(word)
		})
	}
}

// touch makes a file, or lets the one that reads the FIFO go on.
func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWalkLeavesStrangers kills one tree beside another, and beside this process's own child.
func TestWalkLeavesStrangers(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		mine, theirs := tag(), tag()
		c := shell(t, m, "mine", "setsid sleep "+mine+" & sleep "+mine)
		other := shell(t, m, "theirs", "setsid sleep "+theirs+" & (setsid env -i setsid -f sleep "+theirs+" &); sleep "+theirs)
		awaitSleeps(t, mine, 2)
		awaitSleeps(t, theirs, 3)
		ctx, cancel := deadline()
		defer cancel()
		c.Kill(ctx)
		c.wantGone(mine)
		if got := sleeping(theirs); len(got) != 3 {
			t.Errorf("beside the kill of another tree %q lives on, want 3", got)
		}
		if got := other.Members(); len(got) != 2 {
			t.Errorf("the other tree's members are %v, want 2", got)
		}
	})
}

// TestEmbedded is a Manager that adopts nobody.
func TestEmbedded(t *testing.T) {
	m := manager(t, MethodWalk, false)
	word := tag()
	c := shell(t, m, "e", "(setsid sleep "+word+" &); exit")
	c.awaitExit()
	awaitSleeps(t, word, 1)
	if c.Empty() {
		t.Error("Empty() = true beside an orphan")
	}
	ctx, cancel := deadline()
	defer cancel()
	if left := c.Kill(ctx); len(left) > 0 || !c.Empty() {
		t.Errorf("Kill left %v, Empty() = %v", left, c.Empty())
	}
	c.wantGone(word)
}
