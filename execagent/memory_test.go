//go:build linux

package execagent

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/execagent/execagent/transport/protocol"
)

// TestForgottenIsFree: once results are no longer kept, the agent holds of hundreds of commands with
// a full window each what it held of ten: no memory, no goroutine.
func TestForgottenIsFree(t *testing.T) {
	a, err := New(Options{SpillDir: filepath.Join(t.TempDir(), "spill"), Retention: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	run := func(n int) {
		for range n {
			e := begin(t, a, protocol.Spec{Command: "yes 'a line of twenty-five bytes' | head -n 3000", NoSpill: true})
			if r, _ := outcome(t, e); r.Truncation.OutputBytes < 40<<10 {
				t.Fatalf("a window of %d bytes is not full", r.Truncation.OutputBytes)
			}
		}
	}
	// held waits until all are forgotten.
	held := func() (bytes int64, goroutines int) {
		for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
			a.mu.Lock()
			left := len(a.executions)
			a.mu.Unlock()
			if left == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d executions are not forgotten after a minute", left)
			}
		}
		for range 3 { // pools keep what they have for one cycle
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc), runtime.NumGoroutine()
	}
	run(10)
	bytesBefore, goroutinesBefore := held()
	run(300)
	bytesAfter, goroutinesAfter := held()
	t.Logf("%d bytes and %d goroutines before, %d and %d after", bytesBefore, goroutinesBefore, bytesAfter, goroutinesAfter)
	if more := bytesAfter - bytesBefore; more > 512<<10 {
		t.Errorf("%d bytes more than before", more)
	}
	if goroutinesAfter > goroutinesBefore+3 { // of the last one, on their way out
		t.Errorf("%d goroutines before, %d after", goroutinesBefore, goroutinesAfter)
	}
}
