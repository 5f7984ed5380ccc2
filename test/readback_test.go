//go:build linux

package test

// This file is about reading complete outputs back over the connection.

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
)

// Any lines of any output that has a file can be read, byte for byte, also while it is written.
func TestReadSpill(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	run(t, conn, client.Spec{ID: "done", Command: "seq 1 100000; printf '\\033[1mend'"})
	run(t, conn, client.Spec{ID: "small", Command: "echo hi"})
	running := start(t, conn, client.Spec{ID: "running", Command: "seq 1 5000; cat", Stdin: client.StdinPipe})
	attachUntil(t, conn, "running", "\n5000\n")
	for _, c := range []struct {
		id    string
		lines client.Lines
		want  string
	}{
		{"done", client.Lines{}, string(seq(1, 100_000)) + "\x1b[1mend"},
		{"done", client.Lines{From: 50_000, To: 50_001}, "50000\n50001\n"},
		{"done", client.Lines{From: 100_000}, "100000\n\x1b[1mend"},
		{"done", client.Lines{To: 2}, "1\n2\n"},
		{"done", client.Lines{From: 200_000}, ""},
		{"running", client.Lines{From: 4999}, "4999\n5000\n"},
	} {
		r, err := conn.ReadSpill(t.Context(), c.id, c.lines)
		if err != nil {
			t.Errorf("%s, lines %+v: %v", c.id, c.lines, err)
			continue
		}
		got, err := io.ReadAll(r)
		if err != nil || string(got) != c.want {
			t.Errorf("%s, lines %+v: %d bytes, %v, want %d", c.id, c.lines, len(got), err, len(c.want))
		}
		if s := r.Spill(); s.ID != c.id || s.Path == "" || s.FileBytes == 0 {
			t.Errorf("%s is described as %+v", c.id, s)
		}
		must(t, r.Close())
	}
	for id, want := range map[string]protocol.Code{"small": protocol.CodeNoSpill, "nobody": protocol.CodeUnknownID, "../x": protocol.CodeUnknownID, "": protocol.CodeUnknownID} {
		_, err := conn.ReadSpill(t.Context(), id, client.Lines{})
		if f := (*client.Failure)(nil); !errors.As(err, &f) || f.Code != want {
			t.Errorf("reading %q: %v, want a failure %s", id, err, want)
		}
	}
	_, err := conn.ReadSpill(t.Context(), "done", client.Lines{From: -1})
	if f := (*client.Failure)(nil); !errors.As(err, &f) || f.Code != protocol.CodeBadRequest {
		t.Errorf("a negative line: %v, want a failure %s", err, protocol.CodeBadRequest)
	}
	must(t, running.Stdin().Close())
	if _, err := running.Wait(); err != nil {
		t.Fatal(err)
	}
}

// The list has what runs first, then the latest.
func TestListSpills(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	run(t, conn, client.Spec{ID: "first", Command: "seq 1 20000; exit 3"})
	run(t, conn, client.Spec{ID: "second", Command: "echo hi"})
	start(t, conn, client.Spec{ID: "third", Command: "seq 1 5000; sleep 600"})
	attachUntil(t, conn, "third", "\n5000\n")
	all, err := conn.Spills(t.Context())
	if err != nil || len(all) != 3 || all[0].ID != "third" || all[1].ID != "second" || all[2].ID != "first" {
		t.Fatalf("%+v, %v, want third, second, first", all, err)
	}
	if s := all[0]; s.State != protocol.SpillRunning || s.TotalLines != 5000 || s.ExitCode != nil || s.Path == "" || !s.Ended.IsZero() || s.Command != "seq 1 5000; sleep 600" {
		t.Errorf("running: %+v", s)
	}
	if s := all[1]; s.State != protocol.SpillSettled || s.Path != "" || s.TotalBytes != 3 || s.ExitCode == nil || *s.ExitCode != 0 {
		t.Errorf("small: %+v", s)
	}
	if s := all[2]; s.Reason != protocol.ReasonExited || s.ExitCode == nil || *s.ExitCode != 3 || s.FileBytes != 108_894 || s.TotalBytes != s.FileBytes || s.Begun.After(s.Ended) {
		t.Errorf("big: %+v", s)
	}
}

// A reader that does not read, and one that leaves, hold up nobody.
func TestReadSpillWithoutReading(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	run(t, conn, client.Spec{ID: "big", Command: "seq 1 3000000", Pipe: true}) // 23 MB
	for range 8 {
		r, err := conn.ReadSpill(t.Context(), "big", client.Lines{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
	}
	left, err := conn.ReadSpill(t.Context(), "big", client.Lines{})
	must(t, err)
	must(t, left.Close())
	for range 20 {
		begun := time.Now()
		if o := run(t, conn, client.Spec{Command: "echo on"}); o.text() != "on\n" {
			t.Errorf("text %q, want %q", o.text(), "on\n")
		}
		if took := time.Since(begun); took > patience/3 {
			t.Errorf("echo took %v beside readers that do not read", took)
		}
	}
}
