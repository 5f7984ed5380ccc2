package main

// This file reports an execution to something that is not a terminal: text or JSON lines.

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
	"github.com/execagent/execagent/transport/protocol"
)

// textReporter prints the final view and a footer.
type textReporter struct{ out io.Writer }

func (t *textReporter) batch(client.Batch, client.View) error { return nil }
func (t *textReporter) stop()                                 {}

func (t *textReporter) result(r *client.Result, v client.View) error {
	explain(os.Stderr, r)
	_, err := io.WriteString(t.out, finalText(r, v))
	return err
}

// finalText is the view and, when it is not everything, a footer that says so.
func finalText(r *client.Result, v client.View) string {
	text := v.Text + v.Live
	if !v.Truncation.Truncated {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + footer(r, v.Truncation) + "\n"
}

// footer names the lines shown, the limit that bound them and where the rest is.
func footer(r *client.Result, t limits.Truncation) string {
	lines := fmt.Sprintf("Showing lines %d–%d of %d", t.FirstLine, t.FirstLine+t.OutputLines-1, t.TotalLines)
	if t.OutputLines == 0 {
		lines = fmt.Sprintf("Showing none of %d lines", t.TotalLines)
	}
	if t.LastLinePartial {
		lines += fmt.Sprintf(", of the last %d bytes cut to fit", r.LastLineBytes)
	}
	limit := fmt.Sprintf("%d bytes", t.MaxBytes)
	if t.TruncatedBy != nil && *t.TruncatedBy == limits.ByLines {
		limit = fmt.Sprintf("%d lines", t.MaxLines)
	}
	where := "The complete output was not kept."
	switch {
	case r.SpillError != nil && r.SpillError.SafeBytes == 0:
	case r.SpillPath != "" && r.SpillError != nil:
		where = fmt.Sprintf("The first %d bytes: %s", r.SpillError.SafeBytes, r.SpillPath)
	case r.SpillPath != "":
		where = "Complete output: " + r.SpillPath
	}
	if t.OutputLines == 0 { // no limit did it: the text is known no more
		return fmt.Sprintf("[%s. %s]", lines, where)
	}
	return fmt.Sprintf("[%s (limit: %s). %s]", lines, limit, where)
}

// explain says on stderr what neither the output nor the exit code tells.
func explain(w io.Writer, r *client.Result) {
	switch r.Reason {
	case protocol.ReasonTimeout:
		fmt.Fprintf(w, "execctl: the command was ended at its timeout, after %.1f s\n", r.Seconds)
	case protocol.ReasonCanceled:
		fmt.Fprintf(w, "execctl: the command was canceled after %.1f s\n", r.Seconds)
	case protocol.ReasonSpillFailed:
		fmt.Fprintf(w, "execctl: the command was ended after %.1f s because its complete output could not be kept\n", r.Seconds)
	case protocol.ReasonAgentLost:
		fmt.Fprintf(w, "execctl: the agent that ran the command was lost: its outcome is unknown; last heard of at %s\n", r.LastSeen.Local().Format(time.DateTime))
	case protocol.ReasonSignaled:
		fmt.Fprintf(w, "execctl: the command was killed by SIG%s\n", *r.Signal)
	}
	if r.SpillError != nil && r.Reason != protocol.ReasonAgentLost {
		fmt.Fprintf(w, "execctl: the complete output could not be kept: %s\n", r.SpillError.Message)
	}
	for _, p := range r.Leftovers {
		fmt.Fprintf(w, "execctl: left running: %d %s\n", p.PID, p.Command)
	}
}

// jsonReporter prints one JSON object a line: start, batches as received, result.
type jsonReporter struct {
	out     io.Writer
	conn    connection
	started client.Started
	begun   bool
	line    []byte
}

func (j *jsonReporter) stop() {}

func (j *jsonReporter) batch(b client.Batch, _ client.View) error {
	if err := j.start(); err != nil {
		return err
	}
	j.line = append(j.line[:0], `{"type":"batch","ops":`...)
	j.line = append(j.line, b.Wire...)
	j.line = append(j.line, "}\n"...)
	_, err := j.out.Write(j.line)
	return err
}

func (j *jsonReporter) start() error {
	if j.begun {
		return nil
	}
	j.begun = true
	return j.print(struct {
		Type  string `json:"type"`
		ID    string `json:"id"`
		PID   int    `json:"pid"`
		Shell string `json:"shell"`
	}{"start", j.started.ID, j.started.PID, j.started.Shell})
}

func (j *jsonReporter) result(r *client.Result, _ client.View) error {
	return j.print(struct {
		Type string `json:"type"`
		*client.Result
		WireBytes int64 `json:"wireBytes"`
	}{"result", r, j.conn.WireBytes()})
}

func (j *jsonReporter) print(v any) error {
	_, err := j.out.Write(append(protocol.Encode(v), '\n'))
	return err
}
