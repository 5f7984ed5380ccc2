// A process that writes is killed at random moments, again and again in one directory: what the
// manifests claim is a beginning of the truth each time.

package spill

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// crashDir in the environment makes the test binary the process that is killed.
const crashDir = "SPILL_TEST_CRASH_DIR"

// killsVariable in the environment says how often it is killed, defaultKills without it.
const (
	killsVariable = "EXECAGENT_TEST_KILLS"
	defaultKills  = 50
)

// truth is the beginning of what the execution id prints, of at least n bytes.
func truth(id string, n int) []byte {
	b := make([]byte, 0, n+len(id)+40)
	for line := int64(1); len(b) < n; line++ {
		b = append(append(b, id...), " prints line "...)
		b = append(strconv.AppendInt(b, line, 10), '\n')
	}
	return b
}

// crashOptions make the sweeping a part of it.
var crashOptions = Options{MaxFile: 1 << 20, MaxTotal: 8 << 20, Floor: time.Nanosecond}

// writeUntilKilled runs executions, three at a time, until the process ends.
func writeUntilKilled(dir string) {
	s, err := Open(dir, crashOptions)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for n := range 3 {
		go func() {
			for round := 0; ; round++ {
				writeOne(s, fmt.Sprintf("%d-%d-%d", os.Getpid(), n, round))
				fmt.Println("one more")
			}
		}()
	}
	select {}
}

// writeOne is one execution, with a manifest far more often than once a second.
func writeOne(s *Store, id string) {
	var c counter
	r, err := s.Begin(id, json.RawMessage(strconv.Quote(id)), c.totals)
	if err != nil {
		panic(err)
	}
	f, err := r.Create(FileOptions{})
	if err != nil {
		panic(err)
	}
	output := truth(id, 1<<20+1<<18) // more than a file may have
	whole := rand.IntN(len(output))
	for at := 0; at < whole; {
		p := output[at:min(whole, at+1+rand.IntN(1<<rand.IntN(18)))]
		at += len(p)
		c.lines.Store(linesIn(output[:at]))
		c.bytes.Store(int64(at))
		f.Write(p)
		if rand.IntN(4) == 0 {
			r.timers.Add(1)
			r.timeout()
		}
	}
	f.Close()
	if err := r.Settle(json.RawMessage(strconv.Quote(id))); err != nil {
		panic(err)
	}
}

func TestKilledAtRandom(t *testing.T) {
	kills := defaultKills
	if raceEnabled {
		kills /= 5 // a process takes that much longer to start
	}
	if text := os.Getenv(killsVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s is %q: give how often to kill, 1 or more", killsVariable, text)
		}
		kills = n
	}
	dir := mountTmpfs(t, "size=64m") + "/spill" // what a disk does is not the subject
	states := make(map[State]int)
	for i := range kills {
		killOne(t, dir, i%4 > 0)
		s := openAt(t, dir, crashOptions)
		for info := range s.All() {
			states[info.State]++
			if problem := falseClaim(info); problem != "" {
				t.Fatalf("after kill %d: %+v: %s", i+1, *info, problem)
			}
			if raw := overclaim(s, info); raw != nil {
				t.Fatalf("after kill %d: the manifest claims more than there is: %+v of %+v", i+1, *raw, *info)
			}
		}
		if got := usage(t, dir); got > crashOptions.MaxTotal {
			t.Fatalf("after kill %d: the directory takes %d bytes, want at most %d", i+1, got, crashOptions.MaxTotal)
		}
		mustDo(t, s.Close())
	}
	t.Logf("after %d kills, executions were found in these states: %v", kills, states)
	if states[Lost] == 0 || states[Settled] == 0 {
		t.Errorf("executions were found in the states %v, want lost and settled ones", states)
	}
}

// killOne runs the process and kills it some time after its start, or after its first
// execution has settled.
func killOne(t *testing.T, dir string, settled bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	mustDo(t, err)
	mustDo(t, cmd.Start())
	if settled {
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "one more\n" {
			t.Fatalf("the process said %q, %v", line, err)
		}
	}
	// Not to wait for anything: any moment is good.
	time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
	mustDo(t, cmd.Process.Kill())
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process ended by itself: %v", err)
	}
}

// linesIn counts lines, an unfinished one among them.
func linesIn(p []byte) int64 {
	n := int64(bytes.Count(p, newline))
	if len(p) > 0 && p[len(p)-1] != '\n' {
		n++
	}
	return n
}

// falseClaim says what of it is not true, or "".
func falseClaim(i *Info) string {
	if i.State == Lost && i.Bytes == 0 && i.Detail == nil {
		return "" // a file whose manifest is gone, or had not come to be: nothing is claimed
	}
	output := truth(i.ID, int(max(i.Bytes, i.Size)))
	if string(i.Detail) != strconv.Quote(i.ID) {
		return "its detail is another's"
	}
	if lines := linesIn(output[:i.Bytes]); lines != i.Lines {
		return fmt.Sprintf("there are %d lines in %d bytes", lines, i.Bytes)
	}
	if i.Path == "" {
		return ""
	}
	b, err := os.ReadFile(i.Path)
	switch {
	case err != nil:
		return err.Error()
	case int64(len(b)) != i.Size:
		return fmt.Sprintf("the file has %d bytes", len(b))
	case !bytes.HasPrefix(output, b):
		return "the file is no beginning of the output"
	}
	return ""
}
