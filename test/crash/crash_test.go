package crash

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/client/lane"
)

var (
	runs = flag.Int("crash.runs", 40, "how many processes to kill")
	seed = flag.Uint64("crash.seed", 0, "of the moments to kill at; 0 chooses one")
)

// maxDelay is when a child is killed at the latest, after it has begun: in time for some of its
// steps, slow ones among them.
const maxDelay = 300 * time.Millisecond

// TestKilled kills a process that runs a call at a random moment and looks at what is durable,
// again and again until the call has ended, and begins another one.
func TestKilled(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("-crash.seed=%d", *seed)
	r := rand.New(rand.NewPCG(*seed, 0))
	killed, ended, unbegun, memoised := 0, 0, 0, 0
	for killed < *runs {
		path := filepath.Join(t.TempDir(), "journal")
		for life := 0; ; life++ {
			if whole := kill(t, path, life, time.Duration(r.Int64N(int64(maxDelay)))); whole {
				check(t, path, life, true)
				ended++
				break
			}
			killed++
			memos := check(t, path, life, false)
			memoised += memos
			if memos < 0 {
				unbegun++
			}
			if killed >= *runs {
				break
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d killed, %d before the call had begun, %d ended; %d memos found in all", killed, unbegun, ended, memoised)
	if memoised < killed {
		t.Errorf("only %d memos were found after %d crashes: they come too early to show anything", memoised, killed)
	}
}

// kill runs a child and kills it so long after its begin. It reports whether the child was
// faster.
func kill(t *testing.T, path string, life int, delay time.Duration) (whole bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childJournal+"="+path, fmt.Sprint(childLife, "=", life))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the child did not begin: %v", err)
	}
	timer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.Exited()) {
		t.Fatalf("the child failed by itself: %v", err)
	}
	return err == nil
}

// check opens the journal and looks at the call: of every step that is memoised, the output of
// the life that did it is there, once. It returns the number of memos, -1 for a call that is
// not known yet.
func check(t *testing.T, path string, life int, whole bool) int {
	t.Helper()
	j, err := journal.Open(path)
	if err != nil {
		t.Fatalf("after life %d: %v", life, err)
	}
	defer j.Close()
	record, err := j.Recover(journal.Key(call.CallID))
	if errors.Is(err, journal.ErrUnknown) && life == 0 {
		return -1
	}
	if err != nil {
		t.Fatalf("after life %d: %v", life, err)
	}
	text := ""
	if record.Document != nil {
		s, err := lane.ReadState(record.Document)
		if err != nil {
			t.Fatalf("after life %d: %v", life, err)
		}
		text = s.Text()
	}
	for step := range steps {
		value, memo := record.Memos[memoName(step)]
		if record.End != nil && !memo {
			t.Errorf("the call has ended, and step %d is not memoised", step)
		}
		switch {
		case once(step):
			checkOnce(t, text, step, life, memo)
		case memo:
			var by int
			if err := json.Unmarshal(value, &by); err != nil {
				t.Fatal(err)
			}
			for n := range linesPerStep {
				if got := strings.Count(text, line(step, by, n)); got != 1 {
					t.Errorf("after life %d: line %d of step %d, memoised by life %d, is there %d times", life, n, step, by, got)
				}
			}
		}
	}
	// One that was killed may have been on its way out.
	if whole && record.End == nil {
		t.Errorf("after life %d the journal knows no end", life)
	}
	return len(record.Memos)
}

// checkOnce: all of a step within Once is there, of one life, or nothing of any.
func checkOnce(t *testing.T, text string, step, life int, memo bool) {
	t.Helper()
	want := 0
	if memo {
		want = linesPerStep
	}
	got, first := 0, -1
	for by := range life + 1 {
		for n := range linesPerStep {
			count := strings.Count(text, line(step, by, n))
			if got += count; count > 0 && first < 0 {
				first = by
			} else if count > 0 && by != first {
				t.Errorf("after life %d: step %d is there of lives %d and %d", life, step, first, by)
			}
		}
	}
	if got != want {
		t.Errorf("after life %d: %d lines of step %d, memoised: %t, want %d", life, got, step, memo, want)
	}
}
