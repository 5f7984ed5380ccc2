// A harness's events and a consumer in JavaScript.

package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/client/embed"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/client/sink"
	"github.com/execagent/execagent/limits"
)

// recorder notes the events of a lane as they go to another process.
type recorder struct {
	t       *testing.T
	encoder lane.Encoder
	lines   []string
	updates int
}

func (r *recorder) emit(e lane.Event) {
	line, err := r.encoder.Encode(nil, e)
	if err != nil {
		r.t.Error(err)
	}
	if _, ok := e.(*lane.ToolUpdate); ok {
		r.updates++
	}
	r.lines = append(r.lines, string(line))
}

// TestLane runs tools and has the package fold what their consumers are sent: it ends with the
// outputs that the tools have.
func TestLane(t *testing.T) {
	p := startPeer(t)
	first := firstSeed()
	for i := range *streams / 10 {
		seed := first + uint64(i)
		r := &recorder{t: t}
		outcomes := map[string]*sink.Outcome{}
		synctest.Test(t, func(t *testing.T) { runTools(t, r, seed, outcomes) })
		compareLane(t, p, r, outcomes, fmt.Sprintf("seed %d", seed))
		if r.updates < 30 {
			t.Errorf("seed %d: only %d updates", seed, r.updates)
		}
	}
	t.Logf("from seed %d", first)
}

// TestLaneOfCommands is TestLane for the ready tool.
func TestLaneOfCommands(t *testing.T) {
	p := startPeer(t)
	conn, err := embed.Dial(t.Context(), embed.Options{SpillDir: filepath.Join(t.TempDir(), "spill")})
	must(t, err)
	defer conn.Close()
	r := &recorder{t: t}
	outcomes := map[string]*sink.Outcome{}
	runner := sink.NewRunner(sink.Options{Emit: r.emit, Policy: allow})
	bash := sink.Bash(conn, client.Spec{Limits: limits.Limits{MaxLines: 10}})
	for id, command := range map[string]string{
		"progress": `for i in 1 2 3 4 5 6; do printf 'é %d%%\r' $i; sleep 0.12; done; echo done`,
		"lines":    `for i in 1 2 3 4 5; do seq 1 $i; echo 😀; sleep 0.12; done; exit 2`,
	} {
		args, err := json.Marshal(sink.BashArgs{Command: command})
		must(t, err)
		outcomes[id], err = runner.Run(t.Context(), bash, sink.Call{CallID: lane.CallID{Run: "run", ID: id}, Args: args})
		must(t, err)
	}
	compareLane(t, p, r, outcomes, "commands")
}

func allow(string, sink.Call) sink.Verdict { return sink.Allow }

func compareLane(t *testing.T, p *peer, r *recorder, outcomes map[string]*sink.Outcome, what string) {
	t.Helper()
	var folded struct{ Outputs map[string]string }
	p.ask("lane", map[string]any{"lines": r.lines}, &folded)
	if len(folded.Outputs) != len(outcomes) {
		t.Fatalf("%s: JavaScript has %d calls, want %d", what, len(folded.Outputs), len(outcomes))
	}
	for id, o := range outcomes {
		own, err := json.Marshal(o.State)
		must(t, err)
		if d := diff(value(t, string(own)), value(t, folded.Outputs[id])); d != "" {
			t.Fatalf("%s, %s: JavaScript has another output (-go +js):\n%s", what, id, d)
		}
	}
}

// runTools runs three tools at once that do something every tenth of a second.
func runTools(t *testing.T, r *recorder, seed uint64, outcomes map[string]*sink.Outcome) {
	runner := sink.NewRunner(sink.Options{Emit: r.emit, Policy: allow})
	var mu sync.Mutex
	var running sync.WaitGroup
	for i := range 3 {
		running.Go(func() {
			id := fmt.Sprint("call ", i)
			tool := randomTool(rand.New(rand.NewPCG(seed, uint64(i))), i)
			o, err := runner.Run(t.Context(), tool, sink.Call{CallID: lane.CallID{Run: "run", ID: id}})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[id] = o
		})
	}
	running.Wait()
}

// toolDetails has a bit of everything that changes in its own way.
type toolDetails struct {
	Passed   int            `json:"passed"`
	Failures []string       `json:"failures"`
	Current  *string        `json:"current,omitempty"`
	Any      map[string]any `json:"any"`
}

func randomTool(r *rand.Rand, i int) sink.Tool {
	l := limits.Limits{MaxBytes: 200, MaxLines: 10, Retain: []limits.Retain{limits.RetainTail, limits.RetainHead}[i%2]}
	return sink.Define("random", sink.ToolOptions{Limits: l}, func(_ context.Context, _ *sink.Invocation, out *sink.ToolOutput[toolDetails]) error {
		for range 20 {
			for range r.IntN(4) {
				act(r, out)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if r.IntN(2) == 0 {
			return errors.New(randomText(r, 20))
		}
		return nil
	})
}

func act(r *rand.Rand, out *sink.ToolOutput[toolDetails]) {
	d := out.Details()
	switch r.IntN(12) {
	case 0:
		d.Passed++
	case 1:
		d.Failures = append(d.Failures, randomText(r, 10))
	case 2:
		d.Failures = slices.Delete(d.Failures, 0, min(1, len(d.Failures)))
	case 3:
		s := randomText(r, 40)
		d.Current = &s
	case 4:
		d.Current = nil
	case 5:
		object, _ := randomRoot(r).(map[string]any)
		d.Any = object
	case 6:
		_ = out.Replace(randomText(r, 300))
	case 7:
		_ = out.Image("image/png", []byte(randomText(r, 5)+"x"))
	case 8:
		_ = out.Usage(lane.Usage{Input: int64(r.IntN(100)), Cost: 0.1})
	case 9:
		_ = out.AddTools([]string{"a", "b", "c"}[:r.IntN(4)])
	default:
		fmt.Fprint(out, randomText(r, 60))
	}
	_ = out.Changed()
}
