//go:build linux

package execagent

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/execagent/execagent/transport/protocol"
)

// TestPTYEnd: a PTY closed upon its last bytes while it is being read gives them all. The
// kernel now and then announces the end too early, in these rounds almost certainly.
func TestPTYEnd(t *testing.T) {
	last := bytes.Repeat([]byte("x"), 959)
	const writes = 4
	for range 10_000 {
		master, slave, err := new(ptySpare).open(&protocol.Spec{Columns: 80, Rows: 24})
		if err != nil {
			t.Fatal(err)
		}
		var writer sync.WaitGroup
		writer.Go(func() {
			for range writes {
				if _, err := slave.Write(last); err != nil {
					t.Error(err)
				}
			}
			slave.Close()
		})
		p := &pump{source: newSource(master)}
		got := 0
		for p.err == nil {
			p.n = 0
			if err := control(master, func(fd int) error { p.ready(uintptr(fd)); return nil }); err != nil {
				t.Fatal(err)
			}
			got += p.n
		}
		p.release()
		writer.Wait()
		master.Close()
		if got != writes*len(last) {
			t.Fatalf("%d bytes of %d before %v", got, writes*len(last), p.err)
		}
	}
}

// TestIdle: a pump that was not yet scheduled to read what is there is not idle.
func TestIdle(t *testing.T) {
	for name, ends := range openSources(t) {
		t.Run(name, func(t *testing.T) {
			p := &pump{source: ends.ours, ended: make(chan struct{})}
			read := func() {
				p.n = 0
				_ = p.source.control(func(fd int) error { p.ready(uintptr(fd)); return nil })
			}
			is := func(want bool, when string) {
				t.Helper()
				if (pumps{p}).idle() != want {
					t.Errorf("idle is %v %s", !want, when)
				}
			}
			is(false, "before the first read")
			read()
			is(true, "with nothing written")
			if _, err := ends.theirs.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			is(false, "with a byte to read")
			read()
			is(false, "with a byte not written on")
			read()
			is(true, "with the byte written on")
			ends.theirs.Close()
			is(false, "before the end was read")
			close(p.ended)
			is(true, "after the end")
		})
	}
}

// TestMeasure: a flood is a large buffer's worth in less time than a byte may wait for it.
func TestMeasure(t *testing.T) {
	const read = bulkSize / 4
	for _, c := range []struct {
		name  string
		every time.Duration // between two reads
		reads int
		want  bool
	}{
		{"first of all", 0, 4, false},
		{"fast", bulkWait/4 - 1, 8, true},
		{"not yet", bulkWait/4 - 1, 7, false},
		{"slow", bulkWait / 4, 100, false},
	} {
		p := &pump{out: &output{}}
		now := time.Now()
		for range c.reads {
			p.n = read
			now = now.Add(c.every)
			p.measure(now)
		}
		if p.flood != c.want {
			t.Errorf("%s: %d reads, one in %v: flood is %v", c.name, c.reads, c.every, p.flood)
		}
		if p.ebb(); p.flood {
			t.Errorf("%s: floods after the ebb", c.name)
		}
		stream := &pump{out: &output{sink: nopSink{}}, since: bulkSize, marked: now, n: read}
		if stream.measure(now); stream.flood {
			t.Error("a lossless stream floods")
		}
	}
}

type nopSink struct{}

func (nopSink) write([]byte, bool) {}
func (nopSink) eof(bool)           {}

// TestAfterFlood: what a command prints last before it waits is seen while it waits.
func TestAfterFlood(t *testing.T) {
	bothModes(t, func(t *testing.T, pipe bool) {
		a := newAgent(t)
		const lines = 2_000_000
		e := begin(t, a, protocol.Spec{Command: "seq 1 2000000; printf name?; sleep 1000", Pipe: pipe})
		until(t, e, func(text string) bool { return strings.HasSuffix(text, "\n2000000\nname?") })
		e.end(protocol.ReasonCanceled)
		r, text := outcome(t, e)
		if got := r.Truncation.TotalLines; got != lines+1 || !strings.HasSuffix(text, "\n2000000\nname?") {
			t.Errorf("%d lines of %d, ending in %q", got, lines+1, text[max(0, len(text)-20):])
		}
		want, err := exec.Command("sh", "-c", "seq 1 2000000; printf name?").Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(r.SpillPath); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the spill has %d bytes, %v; want the %d that were written", len(got), err, len(want))
		}
	})
}

// TestTurn: the time that a flood waits for its turn is not held against it.
func TestTurn(t *testing.T) {
	var waited, held time.Duration
	for range 20 { // a goroutine may be held up on its way to the turn
		if waited, held = waitForTurn(); held < bulkWait {
			return
		}
	}
	t.Errorf("of the %v that it waited, %v count as the flood's", waited, held)
}

// waitForTurn has a flood wait for twice as long as one may take, and returns how long it has
// waited and how much of that it is charged with.
func waitForTurn() (waited, held time.Duration) {
	taken := cap(turns)
	for range taken { // other tests' floods may have some
		turns <- struct{}{}
	}
	marked := time.Now()
	p := &pump{flood: true, marked: marked}
	begun, got := make(chan struct{}), make(chan time.Duration)
	go func() {
		close(begun)
		p.takeTurn()
		got <- time.Since(marked)
	}()
	<-begun
	for time.Since(marked) < 2*bulkWait {
		runtime.Gosched()
	}
	for range taken {
		<-turns
	}
	waited = <-got
	<-turns
	return waited, waited - p.marked.Sub(marked)
}
