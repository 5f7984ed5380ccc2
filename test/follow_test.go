//go:build linux

package test

// This file is a watcher that checks every state it is shown.

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/google/go-cmp/cmp"
)

// outcome is what a watcher has at the end.
type outcome struct {
	result  *client.Result
	view    client.View
	batches int
}

func (o *outcome) text() string { return o.view.Text + o.view.Live }

// run starts a command and follows it to its end.
func run(t testing.TB, conn *client.Conn, spec client.Spec) *outcome {
	t.Helper()
	return follow(t, start(t, conn, spec), spec.Limits, nil)
}

// start starts a command that the test's patience bounds.
func start(t testing.TB, conn *client.Conn, spec client.Spec) *client.Command {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	cmd, err := conn.Start(ctx, spec)
	if err != nil {
		cancel()
		t.Fatalf("starting %q: %v", spec.Command, err)
	}
	t.Cleanup(func() {
		cmd.Close()
		cancel()
	})
	return cmd
}

// follow follows cmd to its end and checks each state; each, if not nil, sees them too. On
// trouble the test goes on with what there is, so that it may be called from any goroutine.
func follow(t testing.TB, cmd *client.Command, l limits.Limits, each func(client.View)) *outcome {
	t.Helper()
	l, err := l.Resolve()
	if err != nil {
		t.Error(err)
	}
	o := &outcome{result: new(client.Result)}
	var doc replica
	for batch, err := range cmd.Batches() {
		if err != nil {
			t.Errorf("following %s: %v", cmd.ID(), err)
			return o
		}
		o.batches++
		was := o.view
		o.view = cmd.View()
		err = doc.apply(batch.Wire)
		if err == nil {
			err = checkFold(&doc, &o.view)
		}
		if err == nil {
			err = checkView(&o.view, l)
		}
		if err == nil && o.batches > 1 {
			err = checkStep(&was, &o.view, l)
		}
		if err != nil {
			t.Errorf("following %s: batch %d, %.300s: %v", cmd.ID(), o.batches, batch.Wire, err)
			cmd.Close()
			return o
		}
		if each != nil {
			each(o.view)
		}
	}
	r, err := cmd.Wait()
	if err != nil {
		t.Errorf("waiting for %s: %v", cmd.ID(), err)
		return o
	}
	o.result = r
	if err := checkResult(r, &o.view); err != nil {
		t.Errorf("following %s: result %+v: %v", cmd.ID(), *r, err)
	}
	return o
}

// checkFold compares what the client folded with what the naive replica did.
func checkFold(doc *replica, v *client.View) error {
	text, _ := doc.get("text").(string)
	live, _ := doc.get("live").(string)
	state, _ := doc.get("state").(string)
	total, _ := doc.get("truncation", "totalBytes").(float64)
	if text != v.Text || live != v.Live || state != string(v.State) || int64(total) != v.Truncation.TotalBytes {
		return fmt.Errorf("the client's fold is %s with %.60q+%.60q of %d bytes, want %s with %.60q+%.60q of %.0f",
			v.State, v.Text, v.Live, v.Truncation.TotalBytes, state, text, live, total)
	}
	return nil
}

// checkView says what is wrong with one state by itself.
func checkView(v *client.View, l limits.Limits) error {
	text, t := v.Text+v.Live, v.Truncation
	switch {
	case len(text) > l.MaxBytes:
		return fmt.Errorf("%d bytes shown, over the limit of %d", len(text), l.MaxBytes)
	case countLines(text) > int64(l.MaxLines):
		return fmt.Errorf("%d lines shown, over the limit of %d", countLines(text), l.MaxLines)
	case !utf8.ValidString(text):
		return fmt.Errorf("the text is not valid UTF-8")
	case strings.ContainsFunc(text, isControl):
		return fmt.Errorf("a control character in the text")
	case t.MaxBytes != l.MaxBytes || t.MaxLines != l.MaxLines:
		return fmt.Errorf("limits %d bytes, %d lines, want %d, %d", t.MaxBytes, t.MaxLines, l.MaxBytes, l.MaxLines)
	case t.OutputBytes != int64(len(text)) || t.OutputLines != countLines(text):
		return fmt.Errorf("it says %d bytes, %d lines and shows %d, %d", t.OutputBytes, t.OutputLines, len(text), countLines(text))
	case t.FirstLine < 1 || t.FirstLine-1+t.OutputLines > t.TotalLines:
		return fmt.Errorf("it shows lines %d to %d of %d", t.FirstLine, t.FirstLine+t.OutputLines-1, t.TotalLines)
	case t.Truncated != (t.TruncatedBy != nil):
		return fmt.Errorf("truncated is %v and the limit named is %v", t.Truncated, t.TruncatedBy)
	case !t.Truncated && (t.FirstLine != 1 || t.LastLinePartial):
		return fmt.Errorf("not truncated, but line %d is the first, or the last is cut", t.FirstLine)
	case t.LastLinePartial != (v.LastLineBytes > 0):
		return fmt.Errorf("last line partial is %v and its full size %d", t.LastLinePartial, v.LastLineBytes)
	case (v.State == protocol.Running) != (v.ExitCode == nil):
		return fmt.Errorf("%s with the exit code %v", v.State, v.ExitCode)
	}
	return nil
}

// checkStep says what is wrong with two states one after the other.
func checkStep(was, now *client.View, l limits.Limits) error {
	order := map[protocol.State]int{protocol.Running: 0, protocol.Exited: 1, protocol.Settled: 2}
	a, b := was.Truncation, now.Truncation
	switch {
	case b.TotalBytes < a.TotalBytes || b.TotalLines < a.TotalLines:
		return fmt.Errorf("totals went back from %d bytes, %d lines to %d, %d", a.TotalBytes, a.TotalLines, b.TotalBytes, b.TotalLines)
	case order[now.State] < order[was.State]:
		return fmt.Errorf("the state went back from %s to %s", was.State, now.State)
	case l.Retain == limits.RetainHead && !strings.HasPrefix(now.Text, was.Text):
		return fmt.Errorf("text of the head was removed")
	case now.State != protocol.Settled && b.FirstLine < a.FirstLine:
		return fmt.Errorf("the first line shown went back from %d to %d", a.FirstLine, b.FirstLine)
	}
	return nil
}

// checkResult says where a result is not that of its final view.
func checkResult(r *client.Result, v *client.View) error {
	if v.State != protocol.Settled {
		return fmt.Errorf("the last state is %q", v.State)
	}
	if diff := cmp.Diff(v.Truncation, r.Truncation); diff != "" {
		return fmt.Errorf("truncation of view (-) and result (+):\n%s", diff)
	}
	if v.ExitCode == nil || *v.ExitCode != r.ExitCode {
		return fmt.Errorf("the view's exit code is not the result's")
	}
	if v.SpillPath != r.SpillPath || v.LastLineBytes != r.LastLineBytes {
		return fmt.Errorf("the view has spill %q, last line %d", v.SpillPath, v.LastLineBytes)
	}
	if r.Leftovers == nil {
		return fmt.Errorf("leftovers are null, not a list")
	}
	return nil
}

// spilled returns the bytes of the spill, which must be complete and private.
func spilled(t testing.TB, r *client.Result) []byte {
	t.Helper()
	if r.SpillPath == "" || r.SpillError != nil {
		t.Fatalf("spill %q, error %+v, want a complete spill", r.SpillPath, r.SpillError)
	}
	info, err := os.Lstat(r.SpillPath)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("the spill %s has mode %v, want a plain file of 0600", r.SpillPath, info.Mode())
	}
	raw, err := os.ReadFile(r.SpillPath)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// countLines counts lines, an unfinished last one included.
func countLines(text string) int64 {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return int64(n)
}

// isControl reports whether r may not stand in a view.
func isControl(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7F && r < 0xA0
}

// bothModes runs a test under a PTY and under a pipe.
func bothModes(t *testing.T, test func(t *testing.T, pipe bool)) {
	t.Run("pty", func(t *testing.T) { test(t, false) })
	t.Run("pipe", func(t *testing.T) { test(t, true) })
}
