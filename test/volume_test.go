//go:build linux

package test

// This file runs much output of every kind through the agent, in both modes, keeping either
// end, with a live watcher.

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/test/bench/gen"
)

const (
	defaultMiB = 64
	// mostMemory is the agent's peak resident memory, in bytes, whatever comes through.
	mostMemory = 32 << 20
)

// One agent does all of it: what one command takes must be free for the next.
func TestVolume(t *testing.T) {
	size := volumeSize(t)
	a := startAgent(t)
	for _, kind := range gen.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			in := newInput(t, kind, size)
			for _, retain := range []limits.Retain{limits.RetainTail, limits.RetainHead} {
				t.Run(string(retain), func(t *testing.T) {
					l := limits.Limits{Retain: retain}
					w := wantView(in.raw, in.text, l)
					raw := kind == gen.Mixed // its backspaces would edit, which plainText knows nothing of
					bothModes(t, func(t *testing.T, pipe bool) {
						in.through(t, a, w, client.Spec{Limits: l, Pipe: pipe, RawText: raw})
					})
					if kind == gen.Mixed {
						w := windowView(t, in.raw, l)
						in.through(t, a, w, client.Spec{Limits: l, Pipe: true})
					}
				})
			}
		})
	}
	peak := peakMemory(t, a.pid)
	t.Logf("the agent's peak memory: %.1f MiB", float64(peak)/(1<<20))
	if peak > mostMemory {
		t.Errorf("the agent's peak memory is %d bytes, want at most %d", peak, mostMemory)
	}
}

func volumeSize(t *testing.T) int64 {
	text := os.Getenv("EXECAGENT_TEST_MIB")
	if text == "" {
		return defaultMiB << 20
	}
	mib, err := strconv.ParseInt(text, 10, 32)
	if err != nil || mib < 1 {
		t.Fatalf("EXECAGENT_TEST_MIB is %q: give the size of each input in MiB, 1 or more", text)
	}
	return mib << 20
}

// input is a file of one kind, and what is known of it.
type input struct {
	path      string
	raw, text []byte
	sum       [sha256.Size]byte
}

func newInput(t *testing.T, kind gen.Kind, size int64) *input {
	t.Helper()
	r, err := gen.NewReader(kind, size)
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	raw.Grow(int(size))
	if _, err := r.WriteTo(&raw); err != nil {
		t.Fatal(err)
	}
	in := &input{path: filepath.Join(t.TempDir(), "input"), raw: raw.Bytes()}
	if err := os.WriteFile(in.path, in.raw, 0o600); err != nil {
		t.Fatal(err)
	}
	in.sum = sha256.Sum256(in.raw)
	in.text = plainText(in.raw)
	return in
}

// through sends the file through the agent with a live watcher.
func (in *input) through(t *testing.T, a *agent, w want, spec client.Spec) {
	conn := a.dial(t)
	spec.Command = fmt.Sprintf("cat '%s'", in.path)
	o := run(t, conn, spec)
	if o.result.ExitCode != 0 {
		t.Errorf("exit code %d, want 0", o.result.ExitCode)
	}
	checkWant(t, o, w)
	spill := spilled(t, o.result)
	if got := sha256.Sum256(spill); got != in.sum {
		t.Errorf("the spill of %d bytes has SHA-256 %x, want %d bytes of %x", len(spill), got, len(in.raw), in.sum)
	}
	if err := os.Remove(o.result.SpillPath); err != nil {
		t.Error(err)
	}
	if wire, most := conn.WireBytes(), int64(len(in.raw)/32); wire > most {
		t.Errorf("%d bytes went over the connection for %d of output, want at most %d", wire, len(in.raw), most)
	}
	t.Logf("%d batches, %d bytes on the wire, %.2f s", o.batches, conn.WireBytes(), o.result.Seconds)
}

// windowView is the view of a window that is written to once, at the end of a pipe. That the window
// is right is for the tests of limits.
func windowView(t *testing.T, raw []byte, l limits.Limits) want {
	t.Helper()
	l, err := l.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	w := limits.NewWindow(l, limits.Terminal{})
	w.Write(raw)
	w.Finish()
	var cursor limits.Cursor
	var d limits.Delta
	w.Delta(&cursor, &d)
	return want{string(d.Append) + string(d.Live), d.Truncation, d.LastLineBytes}
}
