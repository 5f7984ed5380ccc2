//go:build linux

package proctree

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	treeSeed  = flag.Uint64("tree.seed", 0, "replay one random tree; 0 makes new ones")
	treeCount = flag.Int("tree.count", 25, "random trees for each method")
)

// TestRandomTrees grows trees of processes that fork, setsid, exec, clear their environment,
// ignore signals, close descriptors and print, and kills each at some moment. Every process
// has written down its own stat line, so that nothing of the package is trusted with the
// question of what is left.
func TestRandomTrees(t *testing.T) {
	methods(t, func(t *testing.T, m *Manager) {
		for i := range *treeCount {
			seed := *treeSeed
			if seed == 0 {
				seed = rand.Uint64()
			}
			t.Run(strconv.Itoa(i), func(t *testing.T) { randomTree(t, m, seed) })
			if *treeSeed != 0 {
				return
			}
		}
	})
}

func randomTree(t *testing.T, m *Manager, seed uint64) {
	g := &generator{rand: rand.New(rand.NewPCG(seed, 0)), dir: t.TempDir(), word: tag(), left: 14}
	root := g.node(0)
	defer func() {
		if t.Failed() {
			t.Logf("replay with -tree.seed=%d; the scripts:\n%s", seed, g.text())
		}
	}()
	c := shell(t, m, "random", "source "+root)
	go discard(c.out)
	time.Sleep(time.Duration(g.rand.IntN(60)) * time.Millisecond) // any moment will do
	if g.rand.IntN(2) == 0 {
		c.Signal(15)
	}
	ctx, cancel := deadline()
	defer cancel()
	if left := c.Kill(ctx); len(left) > 0 {
		t.Errorf("Kill left %v", left)
	}
	if !c.Empty() {
		t.Errorf("Empty() = false after Kill; members %v", c.Members())
	}
	c.wantGone(g.word)
	g.wantGone(t)
}

// discard ends when the pipe's reader is closed.
func discard(f *os.File) {
	r := bufio.NewReader(f)
	for {
		if _, err := r.ReadByte(); err != nil {
			return
		}
	}
}

// generator writes one script for each node of a tree.
type generator struct {
	rand *rand.Rand
	dir  string
	word string
	left int // nodes that may still be made
	made int
}

func (g *generator) born() string { return filepath.Join(g.dir, "born") }

// node writes a script and returns its path.
func (g *generator) node(depth int) string {
	g.left--
	g.made++
	path := filepath.Join(g.dir, fmt.Sprintf("n%02d", g.made))
	var b strings.Builder
	// A builtin, so as not to fork.
	fmt.Fprintf(&b, "read -r me </proc/$BASHPID/stat; echo \"$me\" >>%s\n", g.born())
	for range g.rand.IntN(3) {
		b.WriteString(g.habit())
	}
	for range 1 + g.rand.IntN(3) {
		if g.left > 0 && depth < 6 {
			fmt.Fprintf(&b, g.launch(), g.node(depth+1))
		}
	}
	b.WriteString(g.ending())
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		panic(err) // a full disk; there is no test without it
	}
	return path
}

func (g *generator) habit() string {
	return g.pick("trap '' TERM\n", "trap '' HUP INT QUIT\n", "exec >/dev/null 2>&1\n", "exec <&- >&- 2>&-\n",
		"echo hello\n", "head -c 3000 /dev/zero\n", "set -m\n", "cd /\n", "ulimit -c 0\n", "trap : TERM CHLD\n")
}

func (g *generator) launch() string {
	return g.pick("( source %s ) &\n", "bash %s &\n", "setsid bash %s &\n", "( setsid bash %s & )\n",
		"env -i bash %s &\n", "( setsid env -i /bin/bash %s & )\n", "timeout 500 bash %s &\n", "nohup bash %s &\n",
		"( ( ( source %s ) & ) & )\n", "bash %s | cat &\n", "setsid -f env -i bash %s\n")
}

func (g *generator) ending() string {
	sleep := "exec sleep " + g.word + "\n"
	return g.pick(sleep, sleep, "exit 3\n", "kill -STOP $BASHPID\n", "wait\n", "while :; do sleep 0.02; done\n",
		"while read -r _ </proc/self/stat; do :; done\n", "sleep "+g.word+"; sleep "+g.word+"\n")
}

func (g *generator) pick(from ...string) string { return from[g.rand.IntN(len(from))] }

func (g *generator) text() string {
	var b strings.Builder
	for i := range g.made {
		name := fmt.Sprintf("n%02d", i+1)
		text, _ := os.ReadFile(filepath.Join(g.dir, name))
		fmt.Fprintf(&b, "--- %s\n%s", name, text)
	}
	return b.String()
}

// wantGone checks every process that wrote itself down.
func (g *generator) wantGone(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(g.born())
	if os.IsNotExist(err) {
		return // killed before the first of them
	}
	for line := range strings.Lines(string(text)) {
		was := strings.Fields(line)
		if len(was) < 22 {
			t.Errorf("a process wrote down %q", line)
			continue
		}
		now, _ := os.ReadFile("/proc/" + was[0] + "/stat")
		is := strings.Fields(string(now))
		if len(is) > 22 && is[21] == was[21] && is[2] != "Z" && is[2] != "X" {
			t.Errorf("alive after Kill: %s", now)
		}
	}
}
