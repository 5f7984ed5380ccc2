//go:build linux

package proctree

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestForkStorm kills while 200 forks each fork once more.
func TestForkStorm(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		word := tag()
		script := fmt.Sprintf(`for ((i=0;i<200;i++)); do ( trap '' TERM; sleep %[1]s & sleep %[1]s ) & done; wait`, word)
		for _, when := range []int{1, 60} {
			c := shell(t, m, fmt.Sprint("w", when), script)
			await(t, "the storm's beginning", func() bool { return len(living(word)) >= when })
			ctx, cancel := deadline()
			if left := c.Kill(ctx); len(left) > 0 {
				t.Errorf("Kill left %d of the storm: %v", len(left), left)
			}
			cancel()
			c.wantGone(word)
			c.cleanup()
		}
	})
}

// TestChain kills what is never there for long: each process starts the next one and ends.
func TestChain(t *testing.T) {
	const last = 20000 // far more than there is time for
	methods(t, func(t *testing.T, m *Manager) {
		for _, launch := range []string{"", "setsid "} {
			word := tag()
			state := t.TempDir() + "/n"
			step := fmt.Sprintf(`: %s; echo $1 >%s; (($1 < %d)) && %sbash -c "$0" "$0" $(($1+1)) & exit`, word, state, last, launch)
			c := start(t, m, "chain"+strconv.Itoa(len(launch)), nil, "/bin/bash", "-c", step, step, "0")
			await(t, "ten links", func() bool { return link(state) > 10 })
			ctx, cancel := deadline()
			if left := c.Kill(ctx); len(left) > 0 {
				t.Errorf("%q: Kill left %v", launch, left)
			}
			cancel()
			if n := link(state); n >= last {
				t.Errorf("%q: the chain came to its own end, %d", launch, n)
			}
			c.wantGone(word)
			c.cleanup()
		}
	})
}

// link is the number in the file, which may be half written.
func link(path string) int {
	text, _ := os.ReadFile(path)
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

// TestKillEndsWithItsContext cannot be killed: a process that the walk sees and signals in
// vain does not hold Kill longer than its context.
func TestKillEndsWithItsContext(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		word := tag()
		c := shell(t, m, "x", "sleep "+word+" & wait")
		awaitSleeps(t, word, 1)
		ctx, cancel := deadline()
		cancel()
		c.Kill(ctx) // has ended, yet kills
		awaitSleeps(t, word, 0)
		await(t, "Empty", c.Empty)
	})
}
