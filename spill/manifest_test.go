// Tests of manifests: what is written, and what is made of anything else.

package spill

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var sample = Manifest{
	Version: 1, ID: "build-17", State: Lost,
	Begun:   time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC),
	Changed: time.Date(2026, 11, 30, 16, 0, 9, 5, time.UTC),
	Ended:   time.Date(2026, 11, 30, 16, 10, 0, 0, time.UTC),
	File:    "build-17-abcd2345.out", Safe: 262144, Bytes: 300000, Lines: 4000,
	Detail: json.RawMessage(`{"command":"make"}`),
}

func TestManifestRoundTrip(t *testing.T) {
	bare := Manifest{Version: 1, ID: "x", State: Running, Begun: sample.Begun, Changed: sample.Begun}
	for _, want := range []Manifest{sample, bare} {
		b, err := want.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeManifest(b, want.ID)
		if err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s reads back as (-want +got):\n%s", b, diff)
		}
	}
}

// hostile are manifests that must not be believed, as edits of the sample.
var hostile = []struct{ name, old, new, says string }{
	{"nothing", "*", "", "no whole line"},
	{"cut off", "*", `{"version":1,"id":"bui`, "no whole line"},
	{"half a line", "*", `{"version":1,"id":"bui` + "\n", "unexpected end"},
	{"zeros", "*", strings.Repeat("\x00", 600) + "\n", "invalid character"},
	{"newlines", "*", strings.Repeat("\n", 600), "unexpected end"},
	{"an array", "*", "[]\n", "cannot unmarshal"},
	{"too large", "*", `{"version":1,"id":"` + strings.Repeat("x", MaxManifest) + `"}`, "more than"},
	{"another version", `"version":1`, `"version":2`, "version 2"},
	{"no version", `"version":1,`, ``, "version 0"},
	{"another id", `"id":"build-17"`, `"id":"other"`, `"other"`},
	{"another state", `"lost"`, `"done"`, `"done"`},
	{"a path as file", `"build-17-abcd2345.out"`, `"../../etc/shadow"`, "its file"},
	{"another's file", `"build-17-abcd2345.out"`, `"other-abcd2345.out"`, "its file"},
	{"a hidden path", `"build-17-abcd2345.out"`, `"build-17-/../x.out"`, "its file"},
	{"negative bytes", `"bytes":300000`, `"bytes":-1`, "bytes"},
	{"more safe than written", `"safe":262144`, `"safe":300001`, "safe bytes"},
	{"negative lines", `"lines":4000`, `"lines":-4`, "lines"},
	{"more lines than bytes", `"lines":4000`, `"lines":300001`, "lines"},
	{"enormous bytes", `"bytes":300000`, `"bytes":1e300`, "cannot unmarshal"},
	{"safe in no file", `"file":"build-17-abcd2345.out",`, ``, "no file"},
	{"no time", `"begun":"2026-11-30T16:00:00Z"`, `"begun":"yesterday"`, "parsing time"},
}

func TestHostileManifests(t *testing.T) {
	b, err := sample.encode()
	mustDo(t, err)
	for _, c := range hostile {
		text := c.new
		if c.old != "*" {
			if !strings.Contains(string(b), c.old) {
				t.Fatalf("%s: %q is not in %s", c.name, c.old, b)
			}
			text = strings.ReplaceAll(string(b), c.old, c.new)
		}
		m, err := decodeManifest([]byte(text), sample.ID)
		if err == nil || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 400 {
			t.Errorf("%s: %+v, %.500v, want a short error with %q", c.name, m, err, c.says)
		}
	}
}

// Whatever is read as a manifest keeps its own rules, and reads back the same.
func FuzzManifest(f *testing.F) {
	b, err := sample.encode()
	mustDo(f, err)
	f.Add(b)
	for _, c := range hostile {
		f.Add([]byte(strings.ReplaceAll(string(b), c.old, c.new)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeManifest(b, sample.ID)
		if err != nil {
			return
		}
		again, err := m.encode()
		if err != nil {
			t.Fatalf("%+v does not encode: %v", m, err)
		}
		if len(again) > MaxManifest {
			return // spaces and escapes were shorter
		}
		back, err := decodeManifest(again, sample.ID)
		if err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if diff := cmp.Diff(m.Begun.Unix(), back.Begun.Unix()) + cmp.Diff(m.File, back.File) + cmp.Diff(m.Safe, back.Safe); diff != "" {
			t.Errorf("%s reads back as %s", b, diff)
		}
	})
}

// Of several lines the last that is whole and good counts.
func TestLastLineCounts(t *testing.T) {
	line := func(bytes int64) string {
		m := sample
		m.Bytes = bytes
		b, err := m.encode()
		mustDo(t, err)
		return string(b)
	}
	for _, tail := range []string{"", "{", line(3e6)[:100], strings.TrimSuffix(line(3e6), "\n"), "\n", "{}\n", "{}\nx\n\x00\n", line(1)} {
		m, err := decodeManifest([]byte(line(1e6)+line(2e6)+tail), sample.ID)
		if err != nil || m.Bytes != 2e6 {
			t.Errorf("with %q behind: %+v, %v, want 2000000 bytes", tail, m, err)
		}
	}
}

// A file of manifests never grows over its bound, and ends in the latest.
func TestManifestFileIsBounded(t *testing.T) {
	s := openStore(t)
	m := sample
	mustDo(t, newManifest(s.root(), &m))
	for i := range int64(100) {
		m.Bytes = sample.Bytes + i
		mustDo(t, putManifest(s.root(), &m))
		got, err := getManifest(s.root(), m.ID)
		if err != nil || got.Bytes != m.Bytes {
			t.Fatalf("after %d: %+v, %v", i, got, err)
		}
		if size := len(readFile(t, s.Dir()+"/build-17.json")); size > MaxManifest {
			t.Fatalf("after %d: the file has %d bytes, want at most %d", i, size, MaxManifest)
		}
	}
}

// The largest manifest that can be asked for fits the bound that its reader sets.
func TestLargestManifest(t *testing.T) {
	id := strings.Repeat("x", MaxIDLength)
	m := Manifest{
		Version: 1, ID: id, State: Running, Begun: sample.Changed, Changed: sample.Changed, Ended: sample.Changed,
		File: fileName(id, "abcd2345"), Safe: 1<<63 - 1, Bytes: 1<<63 - 1, Lines: 1<<63 - 1,
		Detail: json.RawMessage(`"` + strings.Repeat("d", MaxDetail-2) + `"`),
	}
	b, err := m.encode()
	if err != nil || len(b) > MaxManifest {
		t.Errorf("%d bytes, %v, want at most %d", len(b), err, MaxManifest)
	}
	m.Detail = append(m.Detail, ' ')
	if _, err := m.encode(); err == nil {
		t.Error("a detail over the bound is written")
	}
}

// Manifests are private, whole, and never written or read through what somebody planted.
func TestManifestFiles(t *testing.T) {
	setUmask(t, 0)
	s := openStore(t)
	victim := t.TempDir() + "/victim"
	mustDo(t, os.WriteFile(victim, []byte("precious"), 0o600))
	mustDo(t, os.Symlink(victim, s.Dir()+"/x.json"))
	mustDo(t, os.Symlink(victim, s.Dir()+"/x.json.tmp"))
	r, err := s.Begin("x", nil, nothing)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Discard()
	if got := readFile(t, victim); got != "precious" {
		t.Errorf("the links' target holds %q", got)
	}
	info, err := os.Lstat(s.Dir() + "/x.json")
	if err != nil || info.Mode() != fileMode {
		t.Errorf("manifest %v, %v, want a plain file of mode %v", info, err, fileMode)
	}
	for name, plant := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink(victim, path) },
		"fifo": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"dir":  func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		mustDo(t, plant(s.Dir()+"/"+name+".json"))
		if m, err := getManifest(s.root(), name); err == nil || errors.Is(err, ErrUnknown) {
			t.Errorf("a %s as manifest: %+v, %v, want an error", name, m, err)
		}
	}
}
