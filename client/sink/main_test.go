package sink

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/limits"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watcher is a consumer of events: it folds them, and keeps them.
type watcher struct {
	view   lane.View
	events []lane.Event
	// on, when set, sees each event after it was folded.
	on func(lane.Event)
}

func (w *watcher) emit(e lane.Event) {
	lane.Reduce(&w.view, e)
	w.events = append(w.events, e)
	if w.on != nil {
		w.on(e)
	}
}

// kinds are the types of the events, in order.
func (w *watcher) kinds() (kinds []string) {
	for _, e := range w.events {
		kinds = append(kinds, e.Kind())
	}
	return kinds
}

var testCall = Call{CallID: lane.CallID{Run: "run", Turn: "turn", ID: "call"}, Args: json.RawMessage(`{"x":1}`)}

func allow(string, Call) Verdict { return Allow }

func openJournal(t testing.TB) *journal.Bolt {
	t.Helper()
	return openJournalAt(t, filepath.Join(memoryDir(t), "journal"))
}

func openJournalAt(t testing.TB, path string) *journal.Bolt {
	t.Helper()
	j, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// memoryDir is a directory in memory, where there is one: syncing to a disk would be most of a
// test's time.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "journal")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// must ends the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newTestOutput is an output with details of a test run.
func newTestOutput(t testing.TB, l limits.Limits) *ToolOutput[testDetails] {
	t.Helper()
	out, err := New[testDetails](l)
	must(t, err)
	return out
}

// testDetails are what a test runner might count.
type testDetails struct {
	Passed   int      `json:"passed"`
	Current  *string  `json:"current,omitempty"`
	Failures []string `json:"failures"`
}

// text is the text of an output as it is now.
func textOf(t testing.TB, o *Output) string {
	t.Helper()
	s, err := o.State()
	must(t, err)
	return s.Text()
}
