package sink

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/client/journal"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/limits"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// randomTool is a tool that does anything in any order, and what has to hold at every flush:
// the fold of the events, in this process and in another, the state recovered from the journal
// and the output's own state are the same.
type randomTool struct {
	t       *rapid.T
	journal *journal.Bolt
	limits  limits.Limits
	out     *ToolOutput[testDetails]
	p       *publication
	source  *fakeSource
	memos   map[string]string

	view    lane.View
	encoder lane.Encoder
	decoder lane.Decoder
	remote  lane.View
	flushes int
}

func (r *randomTool) emit(e lane.Event) {
	lane.Reduce(&r.view, e)
	line, err := r.encoder.Encode(nil, e)
	if err != nil {
		r.t.Fatal(err)
	}
	received, err := r.decoder.Decode(line)
	if err != nil {
		r.t.Fatalf("%v: %s", err, line)
	}
	lane.Reduce(&r.remote, received)
}

func (r *randomTool) about() lane.About { return lane.About{CallID: testCall.CallID} }

// open gives the call an output, as a runner does at the beginning and after a crash.
func (r *randomTool) open(record *journal.Record) {
	var seed *lane.State
	if record != nil {
		var err error
		if seed, err = lane.ReadState(record.Document); err != nil {
			r.t.Fatal(err)
		}
	}
	out, err := newToolOutput[testDetails](r.limits, seed)
	if err != nil {
		r.t.Fatal(err)
	}
	r.out, r.source = out, nil
	r.p = newPublication(out.Output, r.journal, journal.Key(testCall.CallID), func(ops []chord.Op) {
		r.emit(&lane.ToolUpdate{About: r.about(), Ops: ops})
	})
	r.p.begun = record != nil
	r.emit(&lane.ToolStart{About: r.about(), Tool: "random"})
	if err := r.p.begin(journal.Header{Tool: "random", Started: time.Unix(1, 0)}); err != nil {
		r.t.Fatal(err)
	}
	r.flush()
}

func (r *randomTool) flush() {
	r.p.flush()
	r.check(!r.p.held)
}

// check compares all that ought to be equal.
func (r *randomTool) check(durable bool) {
	r.flushes++
	want := r.out.doc.Value()
	r.equal("folded from the events", want, r.view.Calls[0].Output)
	r.equal("folded from the events elsewhere", want, r.remote.Calls[0].Output)
	if !durable {
		return
	}
	record, err := r.journal.Recover(journal.Key(testCall.CallID))
	if err != nil {
		r.t.Fatal(err)
	}
	r.equal("recovered", want, record.Document)
	if record.Batches > rebaseEvery+1 {
		r.t.Fatalf("recovery read %d batches", record.Batches)
	}
	memos := map[string]string{}
	for name, value := range record.Memos {
		memos[name] = string(value)
	}
	r.equal("memos", r.memos, memos)
}

func (r *randomTool) equal(what string, want, got any) {
	r.t.Helper()
	if !reflect.DeepEqual(want, got) { // which is much faster than cmp
		r.t.Fatalf("%s at flush %d is another (-own +other):\n%s", what, r.flushes, cmp.Diff(want, got))
	}
}

// pipe begins a source, or sends more of one.
func (r *randomTool) pipe() {
	if r.source == nil {
		r.out.change(limits.Urgent, func() error { r.out.text.beginSource(); return nil })
		r.source = newFakeSource(r.limits)
	}
	r.source.window.Write(anyBytes.Draw(r.t, "piped"))
	if rapid.IntRange(0, 9).Draw(r.t, "spills") == 0 {
		r.source.view.SpillPath = "/spill"
	}
	if err := r.source.into(r.out.Output); err != nil {
		r.t.Fatal(err)
	}
}

func (r *randomTool) memo() {
	if r.p.held {
		if err := r.p.memo("a", nil, false); !errors.Is(err, ErrWithinOnce) {
			r.t.Fatalf("a memo within Once gives %v", err)
		}
		return
	}
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(r.t, "memo")
	value := rapid.SampledFrom([]string{"", `1`, `"x"`}).Draw(r.t, "value")
	var raw []byte
	delete(r.memos, name)
	if value != "" {
		raw, r.memos[name] = []byte(value), value
	}
	if err := r.p.memo(name, raw, false); err != nil {
		r.t.Fatal(err)
	}
	r.check(true)
}

// crash forgets everything but the journal.
func (r *randomTool) crash() {
	record, err := r.journal.Recover(journal.Key(testCall.CallID))
	if err != nil {
		r.t.Fatal(err)
	}
	r.open(record)
}

func (r *randomTool) details() {
	d := r.out.Details()
	switch rapid.IntRange(0, 4).Draw(r.t, "details") {
	case 0:
		d.Passed++
	case 1:
		d.Failures = append(d.Failures, rapid.StringN(0, 5, -1).Draw(r.t, "failure"))
	case 2:
		d.Failures = d.Failures[:len(d.Failures)/2]
	case 3:
		s := rapid.StringN(0, 40, -1).Draw(r.t, "current")
		d.Current = &s
	case 4:
		d.Current = nil
	}
}

// own is for what belongs to the tool alone and not to a source.
func (r *randomTool) own(f func()) func(*rapid.T) {
	return func(*rapid.T) { r.source = nil; f() }
}

func (r *randomTool) any(f func()) func(*rapid.T) { return func(*rapid.T) { f() } }

func TestEverythingIsEqual(t *testing.T) {
	j := openJournalAt(t, filepath.Join(memoryDir(t), "journal"))
	rapid.Check(t, func(t *rapid.T) {
		r := &randomTool{t: t, journal: j, limits: someLimits(t), memos: map[string]string{}}
		defer j.Forget(testCall.Run)
		defer j.Settle(testCall.Run, nil)
		r.open(nil)
		t.Repeat(map[string]func(*rapid.T){
			"write":   r.own(func() { r.out.Write(anyBytes.Draw(t, "written")) }),
			"replace": r.own(func() { r.out.Replace(string(anyBytes.Draw(t, "replaced"))) }),
			"note":    r.own(func() { r.out.Note(rapid.StringN(1, 10, -1).Draw(t, "note")) }),
			"image":   r.any(func() { r.out.Image("image/png", []byte{byte(r.flushes)}) }),
			"pipe":    r.any(r.pipe),
			"capture": r.own(func() {
				r.out.Capture(limits.Truncation{TotalBytes: rapid.Int64Range(0, 1000).Draw(t, "total")}, lane.Source{SpillPath: "/x"})
			}),
			"details":   r.any(r.details),
			"usage":     r.any(func() { r.out.Usage(lane.Usage{Input: 1, Cost: 0.1}) }),
			"tools":     r.any(func() { r.out.AddTools(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 0, 3).Draw(t, "tools")) }),
			"terminate": r.any(func() { r.out.Terminate(rapid.Bool().Draw(t, "terminate")) }),
			"flush":     r.any(func() { r.out.Changed(); r.flush() }),
			"memo":      r.any(r.memo),
			"hold":      r.any(func() { _ = r.p.hold() }),
			"release":   r.any(func() { r.p.release(); r.out.Changed(); r.flush() }),
			"crash":     r.any(func() { r.p.release(); r.crash() }),
		})
		r.p.release()
		r.out.Changed()
		r.out.finish("the end")
		if err := r.p.end(journal.End{IsError: true, Ended: time.Unix(2, 0)}); err != nil {
			t.Fatal(err)
		}
		r.check(true)
		if s, err := lane.ReadState(r.view.Calls[0].Output); err != nil || json.Valid(s.Details) == false {
			t.Fatalf("%v", err)
		}
	})
}
