package lane

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/execagent/execagent/chord"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// everyEvent is one of each, and updates enough for the paths to get numbers.
func everyEvent() []Event {
	return []Event{
		&ToolStart{about("a", 1), "p", "bash", json.RawMessage(`{"command":"make <all> & more"}`)},
		base("a", "one\n"), more("a", "two\n"), more("a", "three\n"), more("a", "four\n"),
		&ToolStep{about("a", 4), "1", "compile", StepRunning},
		&ToolStep{about("a", 5), "1", "", StepDone},
		&ApprovalRequested{about("a", 6), "p", "id", "may I", "rm"},
		&ApprovalResolved{about("a", 7), "id", Denied},
		&ToolEnd{about("a", 8), true},
	}
}

func TestCodec(t *testing.T) {
	var enc Encoder
	var dec Decoder
	var lines []string
	for range 2 { // a call may come again
		for _, e := range everyEvent() {
			line, err := enc.Encode(nil, e)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(line))
			got, err := dec.Decode(line)
			if err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if d := cmp.Diff(e, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s (-sent +received):\n%s", line, d)
			}
		}
	}
	for i, want := range map[int]string{
		0: `{"type":"tool_start","runId":"run","turnId":"turn","toolCallId":"a","at":1,"parentToolCallId":"p","toolName":"bash","args":{"command":"make <all> & more"}}`,
		3: `{"type":"tool_update","ops":[["#",0,["content",0,"text"]],["a",0,"three\n"]],"runId":"run","turnId":"turn","toolCallId":"a","at":3}`,
		4: `{"type":"tool_update","ops":[["a",0,"four\n"]],"runId":"run","turnId":"turn","toolCallId":"a","at":3}`,
		9: `{"type":"tool_end","runId":"run","turnId":"turn","toolCallId":"a","at":8,"isError":true}`,
	} {
		if lines[i] != want {
			t.Errorf("event %d:\n got %s\nwant %s", i, lines[i], want)
		}
	}
	if len(enc.streams) != 0 || len(dec.streams) != 0 {
		t.Errorf("%d and %d streams are left of calls that have ended", len(enc.streams), len(dec.streams))
	}
}

// TestBadEvents: what is no event is an error, the right one, and the next event is read.
func TestBadEvents(t *testing.T) {
	var dec Decoder
	for _, line := range []string{
		``, `{`, `null`, `[]`, `{"type":7}`, `{"type":"tool_end","isError":"x"}`, `{"type":"tool_update","toolCallId":7}`,
		`{"type":"tool_update"}`, `{"type":"tool_update","ops":[["x",["a"],1]]}`, `{"type":"tool_update","ops":[["a",7,"x"]]}`,
		strings.Repeat(" ", MaxEventBytes+1),
	} {
		if e, err := dec.Decode([]byte(line)); err == nil || e != nil {
			t.Errorf("%.100s is read as %+v", line, e)
		}
	}
	_, err := dec.Decode([]byte(`{"type":"navigation_end"}`))
	if unknown := (*UnknownEventError)(nil); !errors.As(err, &unknown) || unknown.Type != "navigation_end" {
		t.Errorf("got %v, want an *UnknownEventError", err)
	}
	if _, err := dec.Decode([]byte(`{"type":"tool_end","toolCallId":"a"}`)); err != nil {
		t.Errorf("after all of these: %v", err)
	}
	for i := range MaxStreams + 1 {
		_, err = dec.Decode(fmt.Appendf(nil, `{"type":"tool_update","toolCallId":"%d","ops":[["r",1]]}`, i))
	}
	if err == nil || len(dec.streams) > MaxStreams {
		t.Errorf("%d streams, error %v", len(dec.streams), err)
	}
	var enc Encoder
	if _, err := enc.Encode(nil, &ToolUpdate{about("a", 1), []chord.Op{{Verb: 'x'}}}); err == nil {
		t.Error("an operation that is none is sent")
	}
}

// FuzzDecode: whatever comes, reading and folding it ends in no panic, and what is read can be
// written and read again.
func FuzzDecode(f *testing.F) {
	var enc Encoder
	var all []byte
	for _, e := range everyEvent() {
		line, err := enc.Encode(nil, e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
		all = append(append(all, line...), '\n')
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, lines []byte) {
		var dec, again Decoder
		var enc Encoder
		var v, w View
		for line := range strings.SplitSeq(string(lines), "\n") {
			e, err := dec.Decode([]byte(line))
			if err != nil {
				continue
			}
			Reduce(&v, e)
			out, err := enc.Encode(nil, e)
			if err != nil {
				t.Fatalf("%q was read and cannot be written: %v", line, err)
			}
			e, err = again.Decode(out)
			if err != nil {
				t.Fatalf("%q was written and cannot be read: %v", out, err)
			}
			Reduce(&w, e)
		}
		for _, c := range v.Calls {
			_, _ = c.State()
		}
		if d := cmp.Diff(len(v.Calls), len(w.Calls)); d != "" {
			t.Fatal(d)
		}
	})
}
