//go:build linux

package test

// This file is about the bounds: of the view, of the updates, of what they cost.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
)

// The view is what the limits leave of the output, and says so (C16).
func TestLimits(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	const lines4000 = `for i in $(seq 1 4000); do printf 'line-%04d\n' $i; done`
	for _, c := range []struct {
		command string
		raw     string
		limits  limits.Limits
		shown   string // lines FIRST-LAST/TOTAL
	}{
		{lines4000, numbered("line-%04d\n", 4000), limits.Limits{MaxLines: 2000}, "2001-4000/4000"},
		{lines4000, numbered("line-%04d\n", 4000), limits.Limits{MaxLines: 2000, Retain: limits.RetainHead}, "1-2000/4000"},
		{"seq 1 2000", string(seq(1, 2000)), limits.Limits{MaxLines: 2000}, "1-2000/2000"},
		{"seq 1 2001", string(seq(1, 2001)), limits.Limits{MaxLines: 2000}, "2-2001/2001"},
		{"seq 1 2001", string(seq(1, 2001)), limits.Limits{}, "2-2001/2001"},
		{"seq 1 2001", string(seq(1, 2001)), limits.Limits{MaxBytes: 12}, "2000-2001/2001"},
		{`printf 'a\nb'`, "a\nb", limits.Limits{}, "1-2/2"},
		{`printf ''`, "", limits.Limits{}, "1-0/0"},
		{`printf '\n\n'`, "\n\n", limits.Limits{}, "1-2/2"},
		{`printf '€€€'`, "€€€", limits.Limits{MaxBytes: 4}, "1-1/1"},
		{`printf '€€€'`, "€€€", limits.Limits{MaxBytes: 4, Retain: limits.RetainHead}, "1-1/1"},
	} {
		for _, pipe := range []bool{false, true} {
			o := run(t, conn, client.Spec{Command: c.command, Limits: c.limits, Pipe: pipe})
			checkWant(t, o, wantView([]byte(c.raw), []byte(c.raw), c.limits))
			tr := o.result.Truncation
			if shown := fmt.Sprintf("%d-%d/%d", tr.FirstLine, tr.FirstLine+tr.OutputLines-1, tr.TotalLines); shown != c.shown {
				t.Errorf("%q within %+v: lines %s shown, want %s", c.command, c.limits, shown, c.shown)
			}
			if tr.Truncated {
				if got := string(spilled(t, o.result)); got != c.raw {
					t.Errorf("%q: the spill is %d bytes, want the %d printed", c.command, len(got), len(c.raw))
				}
			} else if o.result.SpillPath != "" {
				t.Errorf("%q: spill %s, want none: the view has everything", c.command, o.result.SpillPath)
			}
		}
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

// Of one line over the limit its end is shown, or its beginning, and it is reported (C11).
func TestOneLongLine(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	const command = `head -c 300000 /dev/zero | tr '\0' q`
	line := strings.Repeat("q", 300_000)
	bothModes(t, func(t *testing.T, pipe bool) {
		for _, retain := range []limits.Retain{limits.RetainTail, limits.RetainHead} {
			l := limits.Limits{MaxBytes: 1024, Retain: retain}
			for suffix, end := range map[string]string{"": "", "; echo": "\n"} {
				o := run(t, conn, client.Spec{Command: command + suffix, Limits: l, Pipe: pipe})
				raw := []byte(line + end)
				checkWant(t, o, wantView(raw, raw, l))
				tr := o.result.Truncation
				if tr.TotalLines != 1 || tr.TotalBytes != int64(len(raw)) || !tr.LastLinePartial || o.result.LastLineBytes != int64(len(raw)) {
					t.Errorf("%s, %q: %d lines, %d bytes, partial %v of %d, want 1, %d, true of %[6]d",
						retain, command+suffix, tr.TotalLines, tr.TotalBytes, tr.LastLinePartial, o.result.LastLineBytes, len(raw))
				}
			}
		}
	})
}

// Twice the output costs the agent about twice the work (C10).
func TestCostIsLinear(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	count := func(lines int) float64 {
		before := cpuTime(t, a.pid)
		for range 2 { // the clock has ticks of 10 ms
			o := run(t, conn, client.Spec{Command: fmt.Sprintf("seq 1 %d", lines)})
			checkExit(t, o, 0)
			if got := o.result.Truncation.TotalLines; got != int64(lines) {
				t.Errorf("%d lines, want %d", got, lines)
			}
		}
		return (cpuTime(t, a.pid) - before).Seconds()
	}
	// Seven times ten digits more make the second 2.06 times the bytes of the first. The
	// bound leaves room for what else the machine does; a square would be 4.
	half, whole := count(2_500_000), count(5_000_000)
	t.Logf("agent CPU: %.2f s and %.2f s", half, whole)
	if ratio := whole / half; ratio > 3 {
		t.Errorf("twice the output took %.1f times the CPU time (%.2f s and %.2f s), want about 2.1", ratio, half, whole)
	}
}

// Many small writes make few updates, and the last of them has the final text (C10).
func TestUpdatesArePaced(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		const writes = 5000
		var raw []byte
		for i := range writes {
			raw = append(raw, 'a'+byte(i%26))
		}
		o := run(t, conn, client.Spec{Command: fmt.Sprintf("helper trickle %d", writes), Pipe: pipe})
		checkWant(t, o, wantView(raw, raw, limits.Limits{}))
		// The base, the exit and the settling are sent at once.
		if most := int(12*o.result.Seconds) + 3; o.batches > most {
			t.Errorf("%d updates in %.2f s for %d writes, want at most %d", o.batches, o.result.Seconds, writes, most)
		}
		if o.batches < 10 {
			t.Errorf("%d updates in %.2f s, want it to be seen moving", o.batches, o.result.Seconds)
		}
	})
}

// A progress bar is one line at its latest state, while it runs and at the end (C15).
func TestProgressBar(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		spec := client.Spec{
			Command: `for i in $(seq 1 100000); do printf '\r%d%%' $i; done; printf '\rdone   \n'`,
			Pipe:    pipe,
		}
		frame, seen := 0, 0
		o := follow(t, start(t, conn, spec), spec.Limits, func(v client.View) {
			if v.State != protocol.Running || v.Text+v.Live == "" {
				return
			}
			var now int
			if _, err := fmt.Sscanf(v.Live, "%d%%", &now); err != nil || v.Text != "" || now < frame {
				if v.Text != "done   \n" {
					t.Errorf("text %q, unfinished line %q after frame %d, want a later frame alone", v.Text, v.Live, frame)
				}
				return
			}
			frame, seen = now, seen+1
		})
		if o.text() != "done   \n" {
			t.Errorf("text %q, want %q", o.text(), "done   \n")
		}
		if seen < 2 {
			t.Errorf("%d frames were seen while it ran, want it to be seen moving", seen)
		}
	})
	if peak := peakMemory(t, a.pid); peak > mostMemory {
		t.Errorf("the agent's peak memory is %d bytes, want at most %d", peak, mostMemory)
	}
}

// A carriage return before a newline is none (C15).
func TestCRLF(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		o := run(t, conn, client.Spec{Command: `printf 'ab\r\ncd\r\n'`, Pipe: pipe})
		if o.text() != "ab\ncd\n" || o.result.Truncation.TotalBytes != 8 || o.result.Truncation.TotalLines != 2 {
			t.Errorf("text %q of %d bytes, %d lines, want %q of 8, 2",
				o.text(), o.result.Truncation.TotalBytes, o.result.Truncation.TotalLines, "ab\ncd\n")
		}
	})
}
