package sink

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/execagent/execagent/chord"
	"github.com/execagent/execagent/client/lane"
	"github.com/execagent/execagent/limits"
	"github.com/google/go-cmp/cmp"
)

// wire is the output's next batch as JSON, each operation with its complete path.
func wire(t *testing.T, o interface{ Flush() []chord.Op }) string {
	t.Helper()
	var all []string
	for _, op := range o.Flush() {
		var enc chord.Encoder
		w, err := enc.Encode(nil, []chord.Op{op})
		must(t, err)
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(string(w), "["), "]"))
	}
	return strings.Join(all, " ")
}

// TestFlush is what each method sends: no more than what changed.
func TestFlush(t *testing.T) {
	out := newTestOutput(t, limits.Limits{MaxBytes: 20, MaxLines: 3})
	if got := wire(t, out); !strings.HasPrefix(got, `["r",{"content":[{"text":"","type":"text"}],"details":{"failures":null,"passed":0}`) {
		t.Errorf("the first batch is %s, want a base", got)
	}
	if got := wire(t, out); got != "" {
		t.Errorf("a second flush gives %s, want nothing", got)
	}
	current := "TestA"
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"a line", func() { fmt.Fprint(out, "one\n") },
			`["a",["content",0,"text"],"one\n"] ["s",["truncation","outputBytes"],4] ["s",["truncation","outputLines"],1] ["s",["truncation","totalBytes"],4] ["s",["truncation","totalLines"],1]`},
		{"an unfinished line", func() { fmt.Fprint(out, "two") },
			`["s",["content",0,"live"],"two"] ["s",["truncation","outputBytes"],7] ["s",["truncation","outputLines"],2] ["s",["truncation","totalBytes"],7] ["s",["truncation","totalLines"],2]`},
		{"its end", func() { fmt.Fprint(out, "\n") },
			`["a",["content",0,"text"],"two\n"] ["d",["content",0,"live"]] ["s",["truncation","outputBytes"],8] ["s",["truncation","totalBytes"],8]`},
		{"over the lines", func() { fmt.Fprint(out, "3\n4\n") },
			`["t",["content",0,"text"],4] ["a",["content",0,"text"],"3\n4\n"] ["s",["truncation","firstLine"],2] ["s",["truncation","outputLines"],3] ["s",["truncation","totalBytes"],12] ["s",["truncation","totalLines"],4] ["s",["truncation","truncated"],true] ["s",["truncation","truncatedBy"],"lines"]`},
		{"details", func() { out.Details().Passed++; out.Details().Current = &current },
			`["s",["details","current"],"TestA"] ["s",["details","passed"],1]`},
		{"details that grow", func() { out.Details().Failures = append(out.Details().Failures, "TestB") },
			`["s",["details","failures"],["TestB"]]`},
		{"details that grow again", func() { out.Details().Failures = append(out.Details().Failures, "TestC") },
			`["p",["details","failures"],1,0,["TestC"]]`},
		{"details that go", func() { out.Details().Current = nil },
			`["d",["details","current"]]`},
		{"usage", func() { out.Usage(lane.Usage{Input: 3, Cost: 0.5}) },
			`["s",["usage"],{"cacheRead":0,"cacheWrite":0,"cost":0.5,"input":3,"output":0}]`},
		{"more usage", func() { out.Usage(lane.Usage{Input: 4, Output: 1}) },
			`["s",["usage","input"],7] ["s",["usage","output"],1]`},
		{"tools", func() { out.AddTools([]string{"grep"}) }, `["s",["addedTools"],["grep"]]`},
		{"other tools", func() { out.AddTools([]string{"grep", "find"}) }, `["p",["addedTools"],1,0,["find"]]`},
		{"no tools", func() { out.AddTools(nil) }, `["d",["addedTools"]]`},
		{"terminate", func() { out.Terminate(true) }, `["s",["terminate"],true]`},
		{"an image", func() { out.Image("image/png", []byte{1, 2, 3}) },
			`["p",["content"],1,0,[{"data":"AQID","mimeType":"image/png","type":"image"}]]`},
		{"a second image", func() { out.Image("image/gif", []byte{4}) },
			`["p",["content"],2,0,[{"data":"BA==","mimeType":"image/gif","type":"image"}]]`},
		{"nothing", func() {}, ``},
	} {
		c.do()
		if got := wire(t, out); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestReplace: text that goes on where the old one stopped is sent as the difference.
func TestReplace(t *testing.T) {
	out := newTestOutput(t, limits.Limits{})
	long := strings.Repeat("a line of output\n", 10)
	must(t, out.Replace(long))
	out.Flush()
	must(t, out.Replace(long[17:]+"another\n"))
	if got := wire(t, out); !strings.HasPrefix(got, `["t",["content",0,"text"],17] ["a",["content",0,"text"],"another\n"] `) {
		t.Errorf("a slide is sent as %s", got)
	}
	must(t, out.Replace("short\n"))
	if got := wire(t, out); !strings.HasPrefix(got, `["s",["content",0,"text"],"short\n"] `) {
		t.Errorf("another text is sent as %s", got)
	}
	s, err := out.State()
	must(t, err)
	if s.Truncation.TotalBytes != 6 || s.Truncation.TotalLines != 1 {
		t.Errorf("totals %+v, want those of the new text", s.Truncation)
	}
}

// TestCapture: what a source says of its text is what the output says, until more is written.
func TestCapture(t *testing.T) {
	by := limits.ByBytes
	said := limits.Truncation{Truncated: true, TruncatedBy: &by, TotalLines: 100, TotalBytes: 1000, FirstLine: 99,
		OutputLines: 2, OutputBytes: 8, MaxLines: 2000, MaxBytes: 51200}
	out := newTestOutput(t, limits.Limits{})
	must(t, out.Replace("99\n100\n"))
	must(t, out.Capture(said, lane.Source{ExecutionID: "x", SpillPath: "/spill/x"}))
	out.Flush()
	s, err := out.State()
	must(t, err)
	if d := cmp.Diff(said, s.Truncation); d != "" || s.Source == nil || s.Source.SpillPath != "/spill/x" {
		t.Errorf("captured (-want +got):\n%s, source %+v", d, s.Source)
	}
	fmt.Fprint(out, "101\n")
	s, err = out.State()
	must(t, err)
	if got := s.Truncation; got.TotalLines != 101 || got.TotalBytes != 1004 || got.FirstLine != 99 || !got.Truncated || s.Text() != "99\n100\n101\n" {
		t.Errorf("after another line: %+v, %q", got, s.Text())
	}
}

// TestNote: a remark is put on its own line, past the limits and the totals.
func TestNote(t *testing.T) {
	for _, retain := range []limits.Retain{limits.RetainHead, limits.RetainTail} {
		out := newTestOutput(t, limits.Limits{MaxBytes: 8, Retain: retain})
		fmt.Fprint(out, "abcdefgh")
		must(t, out.Note("[a \x1b[1mfooter\x1b[0m]"))
		s, err := out.State()
		must(t, err)
		if s.Text() != "abcdefgh\n[a footer]" || s.Truncation.TotalBytes != 8 || s.Truncation.Truncated {
			t.Errorf("%s: %q, %+v", retain, s.Text(), s.Truncation)
		}
	}
	out := newTestOutput(t, limits.Limits{})
	must(t, out.Note("one"))
	must(t, out.Note("two"))
	fmt.Fprint(out, "three\n")
	if got, want := textOf(t, out.Output), "one\ntwo\nthree\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestBounds: what goes over a bound is an error, and the output stays as it was.
func TestBounds(t *testing.T) {
	bad := func(name string, err error) {
		t.Helper()
		if bound := (*BoundError)(nil); !errors.As(err, &bound) {
			t.Errorf("%s: got error %v, want a *BoundError", name, err)
		}
	}
	large := newTestOutput(t, limits.Limits{})
	must(t, large.Image("image/png", make([]byte, MaxImageBytes)))
	bad("image bytes", large.Image("image/png", []byte{1}))
	out := newTestOutput(t, limits.Limits{})
	for range MaxImages {
		must(t, out.Image("image/png", []byte{1}))
	}
	bad("images", out.Image("image/png", []byte{1}))
	bad("notes", out.Note(strings.Repeat("x", MaxNoteBytes+1)))
	bad("tools", out.AddTools(make([]string, MaxAddedTools+1)))
	bad("a tool's name", out.AddTools([]string{strings.Repeat("x", MaxToolName+1)}))
	out.Details().Failures = []string{strings.Repeat("x", MaxDetailsBytes)}
	bad("details", out.Changed())
	out.Details().Failures = nil
	if err := out.Changed(); err != nil {
		t.Errorf("details that are small again: %v", err)
	}
	for name, err := range map[string]error{
		"negative usage":      out.Usage(lane.Usage{Input: -1}),
		"an image of no type": out.Image("", []byte{1}),
		"an image of no data": out.Image("image/png", nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s, err := out.State()
	must(t, err)
	if len(s.Content) != 1+MaxImages || s.Text() != "" || s.AddedTools != nil || s.Usage != nil || string(s.Details) != `{"failures":null,"passed":0}` {
		t.Errorf("the output changed: %d blocks, %q, %v, %v, %s", len(s.Content), s.Text(), s.AddedTools, s.Usage, s.Details)
	}
}

// TestStrangeDetails: details that no peer would accept are an error and end nothing.
func TestStrangeDetails(t *testing.T) {
	nested := json.RawMessage(strings.Repeat("[", 999) + strings.Repeat("]", 999))
	for name, raw := range map[string]json.RawMessage{
		"too deep":         append(append([]byte("["), nested...), ']'),
		"a lone surrogate": json.RawMessage(`"\ud800"`),
		"no JSON":          json.RawMessage(`{`),
		"a huge number":    json.RawMessage(`1e999`),
	} {
		out, err := New[json.RawMessage](limits.Limits{})
		must(t, err)
		*out.Details() = raw
		if err := out.Changed(); err == nil {
			t.Errorf("%s: no error", name)
		}
		if got := wire(t, out); !strings.Contains(got, `"details":null`) {
			t.Errorf("%s: got %.200s, want the details as they were", name, got)
		}
	}
	out, err := New[map[string]any](limits.Limits{})
	must(t, err)
	out.Flush()
	*out.Details() = map[string]any{"__proto__": map[string]any{"x": 1}, "constructor": 1}
	out.Flush()
	(*out.Details())["__proto__"].(map[string]any)["x"] = 2
	if got := wire(t, out); got != `["s",["details"],{"__proto__":{"x":2},"constructor":1}]` {
		t.Errorf("reserved keys are sent as %s", got)
	}
}

// TestEnded: an output whose call has ended takes nothing.
func TestEnded(t *testing.T) {
	out := newTestOutput(t, limits.Limits{})
	fmt.Fprint(out, "before")
	out.finish("why")
	_, writeErr := out.Write([]byte("after"))
	for name, err := range map[string]error{
		"Write": writeErr, "Replace": out.Replace("x"), "Note": out.Note("x"), "Image": out.Image("image/png", []byte{1}),
		"Capture": out.Capture(limits.Truncation{}, lane.Source{}), "Usage": out.Usage(lane.Usage{}), "AddTools": out.AddTools(nil),
		"Terminate": out.Terminate(true), "Changed": out.Changed(),
	} {
		if !errors.Is(err, ErrEnded) {
			t.Errorf("%s: got %v, want ErrEnded", name, err)
		}
	}
	if got, want := textOf(t, out.Output), "before\nwhy"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBadLimits(t *testing.T) {
	_, err := New[testDetails](limits.Limits{MaxBytes: -1})
	if bad := (*limits.Error)(nil); !errors.As(err, &bad) {
		t.Errorf("got %v, want a *limits.Error", err)
	}
}

// TestLargeDetails: large details are not encoded for every line, but at the end at the latest.
func TestLargeDetails(t *testing.T) {
	encoded := 0
	out, err := New[counted](limits.Limits{})
	must(t, err)
	out.Details().n, out.Details().text = &encoded, bytes.Repeat([]byte("x"), largeDetails)
	must(t, out.Changed())
	before := encoded
	for range 1000 {
		fmt.Fprintln(out, "line")
	}
	if encoded-before > 500 {
		t.Errorf("encoded %d times for 1000 lines", encoded-before)
	}
	out.Details().text[0] = 'y'
	if got := wire(t, out); !strings.Contains(got, `"yxx`) {
		t.Errorf("the flush has not the details: %.100s", got)
	}
}

// counted counts how often it is encoded.
type counted struct {
	n    *int
	text []byte
}

func (c *counted) MarshalJSON() ([]byte, error) {
	if c.n != nil {
		*c.n++
	}
	return json.Marshal(string(c.text))
}
