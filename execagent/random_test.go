//go:build linux

package execagent

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/transport/protocol"
)

var (
	lifeSeed   = flag.Uint64("life.seed", 0, "seed of the first random life; 0 for a random one")
	lifeRounds = flag.Int("life.rounds", 40, "how many random lives")
)

// plot is a random process tree, written as shell functions that start one another.
type plot struct {
	*rand.Rand
	script strings.Builder
	nodes  int
}

// node writes a function and returns its name.
func (p *plot) node(depth int) string {
	name := fmt.Sprintf("f%d", p.nodes)
	p.nodes++
	var body strings.Builder
	for range 1 + p.IntN(4) {
		body.WriteString("  " + p.act(depth) + "\n")
	}
	fmt.Fprintf(&p.script, "%s() {\n%s}\n", name, body.String())
	return name
}

func (p *plot) act(depth int) string {
	if depth > 0 && p.IntN(3) > 0 {
		child := p.node(depth - 1)
		return fmt.Sprintf([]string{
			"%s",
			"(%s) &",
			"setsid bash $0 %s &",
			"(trap '' TERM INT HUP; %s) &",
			"(exec </dev/null >/dev/null 2>&1; %s) &",
			"(setsid bash $0 %s &) &",
			"bash -c 'exec bash $0 %s' $0",
			"(kill -STOP $BASHPID; %s) &",
			"(%s) & wait $!",
		}[p.IntN(9)], child)
	}
	return []string{
		fmt.Sprintf("seq 1 %d", p.IntN(3000)),
		fmt.Sprintf("printf 'no newline %d'", p.IntN(100)),
		"sleep 0.0" + fmt.Sprint(p.IntN(9)),
		"sleep 600 &",
		"trap '' TERM",
		"trap 'echo term' TERM",
		fmt.Sprintf("(exit %d)", p.IntN(256)),
		"echo error >&2",
	}[p.IntN(8)]
}

// TestRandomLives: whatever a command starts and however it is ended, it has one result, the
// spill has what was counted, and after a kill nothing of it is alive.
func TestRandomLives(t *testing.T) {
	seed := *lifeSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	a := newAgent(t)
	outcome(t, begin(t, a, protocol.Spec{Command: "seq 1 20000"})) // opens the spill directory
	awaitSpare(t, a, protocol.Spec{})
	before := descriptors(t)
	for round := range *lifeRounds {
		oneLife(t, a, seed+uint64(round))
		if t.Failed() {
			t.Fatalf("replay with -life.seed=%d -life.rounds=1", seed+uint64(round))
		}
	}
	for deadline := time.Now().Add(time.Minute); descriptors(t) > before; {
		// What outlived a command that nobody ended holds the output open, and may have forked
		// while oneLife was killing.
		kill(bearing(t, fmt.Sprintf("LIFE_MARK=%d-", os.Getpid())))
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors before, %d after", before, descriptors(t))
		}
	}
}

func oneLife(t *testing.T, a *Agent, seed uint64) {
	p := &plot{Rand: rand.New(rand.NewPCG(seed, 0))}
	root := p.node(3)
	script := filepath.Join(t.TempDir(), "plot")
	text := p.script.String() + "${1:-" + root + "}\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprintf("LIFE_MARK=%d-%d", os.Getpid(), seed)
	spec := protocol.Spec{
		ID: fmt.Sprintf("life-%d", seed), Command: "exec bash " + script, Env: []string{mark},
		Pipe: p.IntN(2) == 0, Grace: time.Duration(1+p.IntN(200)) * time.Millisecond,
	}
	ending := p.IntN(3) // by itself, by timeout, by cancel
	if ending != 2 {
		spec.Timeout = time.Duration(1+p.IntN(1000)) * time.Millisecond
	}
	e := begin(t, a, spec)
	if ending == 2 {
		pause := time.NewTimer(time.Duration(p.IntN(300)) * time.Millisecond)
		<-pause.C
		e.end(protocol.ReasonCanceled)
	}
	r, _ := outcome(t, e)
	alive := bearing(t, mark)
	defer kill(alive)
	if r.Reason == protocol.ReasonTimeout || r.Reason == protocol.ReasonCanceled {
		if len(alive) > 0 || len(r.Leftovers) > 0 {
			t.Errorf("%v alive after the kill, leftovers %v\n%s", alive, r.Leftovers, text)
		}
	}
	if r.SpillPath != "" {
		kept, err := os.ReadFile(r.SpillPath)
		counted := r.Truncation.TotalBytes
		if err != nil || int64(len(kept)) < counted || int64(bytes.Count(kept[:counted], []byte("\n"))) > r.Truncation.TotalLines {
			t.Errorf("the spill has %d bytes (%v), counted were %+v\n%s", len(kept), err, r.Truncation, text)
		}
	}
	if err := e.signal("TERM"); err == nil {
		t.Error("a settled execution takes signals")
	}
}

// bearing lists the living processes that have the variable in their environment.
func bearing(t *testing.T, variable string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		env, err := os.ReadFile(dir + "/environ")
		if err == nil && bytes.Contains(env, []byte(variable)) {
			var pid int
			if _, err := fmt.Sscan(filepath.Base(dir), &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
