package protocol

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/execagent/execagent/limits"
)

func TestCheck(t *testing.T) {
	good := Spec{ID: "a", Command: "true"}
	got, err := good.Check()
	if err != nil || got.Grace != DefaultGrace || got.Stdin != StdinNone || got.EnvProfile != EnvPlain || got.Limits.MaxBytes != limits.DefaultMaxBytes {
		t.Errorf("defaults: %+v, %v", got, err)
	}
	for name, spoil := range map[string]func(*Spec){
		"id: empty":              func(s *Spec) { s.ID = "" },
		"id: slash":              func(s *Spec) { s.ID = "a/b" },
		"id: leading dot":        func(s *Spec) { s.ID = ".." },
		"id: long":               func(s *Spec) { s.ID = strings.Repeat("a", MaxIDBytes+1) },
		"command: none":          func(s *Spec) { s.Command = "" },
		"argv: and a command":    func(s *Spec) { s.Argv = []string{"true"} },
		"argv: no name":          func(s *Spec) { s.Command, s.Argv = "", []string{""} },
		"argv: and a shell":      func(s *Spec) { s.Command, s.Argv, s.Shell = "", []string{"true"}, "sh" },
		"argv: NUL":              func(s *Spec) { s.Command, s.Argv = "", []string{"true", "\x00"} },
		"stdin: bytes unasked":   func(s *Spec) { s.StdinBytes = []byte("x") },
		"stdin: many bytes":      func(s *Spec) { s.Stdin, s.StdinBytes = StdinBytes, make([]byte, MaxStdinBytes+1) },
		"interactive: pipe":      func(s *Spec) { s.Interactive, s.Pipe = true, true },
		"interactive: no stdin":  func(s *Spec) { s.Interactive, s.Stdin = true, StdinNone },
		"stderr: of a terminal":  func(s *Spec) { s.SplitStderr = true },
		"size: negative":         func(s *Spec) { s.Columns = -1 },
		"size: huge":             func(s *Spec) { s.Rows = MaxRows + 1 },
		"rlimits: soft":          func(s *Spec) { s.Rlimits = map[string]Rlimit{"NOFILE": {Soft: 2, Hard: 1}} },
		"memory: negative":       func(s *Spec) { s.MemoryMax = -1 },
		"command: NUL":           func(s *Spec) { s.Command = "a\x00b" },
		"cwd: NUL":               func(s *Spec) { s.Cwd = "/\x00" },
		"env: no value":          func(s *Spec) { s.Env = []string{"A"} },
		"env: no name":           func(s *Spec) { s.Env = []string{"=a"} },
		"timeout: negative":      func(s *Spec) { s.Timeout = -1 },
		"timeout: absurd":        func(s *Spec) { s.Timeout = MaxDuration + 1 },
		"grace: negative":        func(s *Spec) { s.Grace = -time.Second },
		"onDisconnect: odd":      func(s *Spec) { s.OnDisconnect = "weep" },
		"onDisconnect: negative": func(s *Spec) { s.OnDisconnect, s.DisconnectGrace = Kill, -1 },
		"onDisconnect: of keep":  func(s *Spec) { s.DisconnectGrace = time.Second },
		"stdin: unknown":         func(s *Spec) { s.Stdin = "file" },
		"envProfile: unknown":    func(s *Spec) { s.EnvProfile = "fancy" },
		"limits: negative bytes": func(s *Spec) { s.Limits.MaxBytes = -1 },
		"limits: negative lines": func(s *Spec) { s.Limits.MaxLines = -1 },
		"limits: retain":         func(s *Spec) { s.Limits.Retain = "middle" },
	} {
		s := good
		spoil(&s)
		_, err := s.Check()
		se, le := (*SpecError)(nil), (*limits.Error)(nil)
		if !errors.As(err, &se) && !errors.As(err, &le) {
			t.Errorf("%s: %v, want a typed error", name, err)
		}
	}
}

func TestDigest(t *testing.T) {
	a := Spec{ID: "a", Command: "true"}
	filled, err := a.Check()
	if err != nil {
		t.Fatal(err)
	}
	if a.Digest() != filled.Digest() {
		t.Error("defaults written out make another digest")
	}
	for name, other := range map[string]Spec{
		"command": {ID: "a", Command: "false"},
		"pipe":    {ID: "a", Command: "true", Pipe: true},
		"limits":  {ID: "a", Command: "true", Limits: limits.Limits{MaxLines: 5}},
	} {
		if other.Digest() == a.Digest() {
			t.Errorf("another %s has the same digest", name)
		}
	}
}

func TestSpecJSON(t *testing.T) {
	s := Spec{ID: "a", Command: "x", Env: []string{"A=1"}, Timeout: time.Second, Pipe: true, Limits: limits.Limits{MaxLines: 3, Retain: limits.RetainHead}}
	const want = `{"id":"a","command":"x","env":["A=1"],"limits":{"maxLines":3,"retain":"head"},"timeoutNanos":1000000000,"pipe":true}`
	if got := string(Encode(s)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDecodeIsStrict(t *testing.T) {
	for _, bad := range []string{``, `{`, `[]`, `{"type":"start","type2":1}`, `{"type":"start","spec":{"id":"a","teleport":true}}`, `{"type":"control"}{}`, `{"type":7}`} {
		if err := Decode([]byte(bad), new(Open)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// FuzzOpen: what a client sends never panics, and what is understood means what it says.
func FuzzOpen(f *testing.F) {
	f.Add(Encode(Open{Type: OpenControl}))
	f.Add(Encode(Open{Type: OpenAttach, ID: "a", Watcher: 3}))
	f.Add(Encode(Open{Type: OpenAttach, Mode: ModeRaw, ID: "a", Watcher: 3}))
	f.Add(Encode(Open{Type: OpenStart, Mode: ModeStream, Watcher: 4, Spec: &Spec{ID: "a", Argv: []string{"server"}, SplitStderr: true}}))
	f.Add(Encode(Open{Type: OpenStart, Watcher: 1, Spec: &Spec{ID: "a", Command: "echo hi", Env: []string{"A=b"}, Timeout: time.Second}}))
	f.Add([]byte(`{"type":"start","spec":{"id":"a","command":"x","limits":{"maxBytes":-1,"retain":"middle"}}}`))
	f.Add([]byte(`{"type":"start","spec":{"timeoutNanos":1e99}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var o Open
		if Decode(payload, &o) != nil {
			return
		}
		if o.Spec != nil {
			if s, err := o.Spec.Check(); err == nil && s.Digest() != o.Spec.Digest() {
				t.Errorf("%q: the checked spec has another digest", payload)
			}
		}
		var again Open
		if err := Decode(Encode(o), &again); err != nil {
			t.Errorf("%q: does not survive a round trip: %v", payload, err)
		}
	})
}

// FuzzRequest: the same for the control stream.
func FuzzRequest(f *testing.F) {
	f.Add(Encode(Request{Type: RequestAck, Watcher: 1, Count: 1}))
	f.Add(Encode(Request{Type: RequestCancel, Seq: 2, ID: "a"}))
	f.Add(Encode(Request{Type: RequestSignal, Seq: 3, ID: "a", Signal: "INT"}))
	f.Add(Encode(Request{Type: RequestResize, Seq: 4, ID: "a", Columns: 80, Rows: 25}))
	f.Add(Encode(Request{Type: RequestList, Seq: 5}))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var r Request
		if Decode(payload, &r) == nil && !json.Valid(Encode(r)) {
			t.Errorf("%q: encodes to invalid JSON", payload)
		}
	})
}

func TestShorten(t *testing.T) {
	for _, text := range []string{"", "echo", strings.Repeat("a", MaxSummaryBytes), strings.Repeat("a", MaxSummaryBytes+1), strings.Repeat("é", MaxSummaryBytes), "x" + strings.Repeat("😀", MaxSummaryBytes), strings.Repeat("\x80", 2*MaxSummaryBytes)} {
		got := Shorten(text)
		kept, cut := strings.CutSuffix(got, "…")
		if len(got) > MaxSummaryBytes || !strings.HasPrefix(text, kept) || cut != (len(text) > MaxSummaryBytes) || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q is shortened to %q", text, got)
		}
	}
}
