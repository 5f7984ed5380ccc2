// Package status shows people how an agent is doing: for execagent status and execctl.
package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
)

// patience bounds how long a healthy agent takes to answer.
const patience = 5 * time.Second

// Check returns nil if the agent answers in time and takes commands: what a health check asks.
func Check(ctx context.Context, conn *client.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := conn.Status(ctx)
	if err != nil {
		return err
	}
	if s.Closing {
		return errors.New("the agent is shutting down")
	}
	return nil
}

// Show writes what the agent says of itself and of its executions; as JSON one object a line,
// the agent's first.
func Show(ctx context.Context, conn *client.Conn, w io.Writer, json bool) error {
	s, err := conn.Status(ctx)
	if err != nil {
		return err
	}
	list, err := conn.List(ctx)
	if err != nil {
		return err
	}
	if json {
		if _, err := w.Write(append(protocol.Encode(s), '\n')); err != nil {
			return err
		}
		return Lines(w, list.Executions)
	}
	if err := Agent(w, s); err != nil {
		return err
	}
	if len(list.Executions) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return Table(w, list.Executions)
}

// Agent writes what an agent says of itself.
func Agent(w io.Writer, s *client.AgentStatus) error {
	closing := ""
	if s.Closing {
		closing = ", shutting down"
	}
	_, err := fmt.Fprintf(w, "%s, pid %d, up %s%s\ninstance:    %s\nkill method: %s\nclients:     %d\nwatchers:    %d\nexecutions:  %d running, %d settled, %s written in all\n",
		Printable(s.Software), s.PID, Elapsed(s.Seconds), closing, Printable(s.Instance), Printable(s.KillMethod),
		s.Clients, s.Watchers, s.Running, s.Settled, Size(float64(s.OutputBytes)))
	return err
}

// Lines writes executions as one JSON object a line.
func Lines(w io.Writer, all []client.Summary) error {
	for _, s := range all {
		if _, err := w.Write(append(protocol.Encode(s), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// Table writes executions for people.
func Table(w io.Writer, all []client.Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tSTATE\tEXIT\tTIME\tOUTPUT\tWATCHERS\tPID\tCOMMAND")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n",
			Printable(s.ID), Printable(string(s.State)), exitText(&s), Elapsed(s.Seconds), Size(float64(s.TotalBytes)), s.Watchers, s.PID, Printable(s.Command))
	}
	return t.Flush()
}

// exitText is the exit code, or the signal's name, or "-".
func exitText(s *client.Summary) string {
	switch {
	case s.Signal != "":
		return Printable(s.Signal)
	case s.ExitCode != nil:
		return strconv.Itoa(*s.ExitCode)
	}
	return "-"
}

// Elapsed formats a time in seconds: "4.2s", "1h5m3s".
func Elapsed(seconds float64) string {
	if seconds < 60 {
		return fmt.Sprintf("%.1fs", seconds)
	}
	return (time.Duration(seconds) * time.Second).String()
}

// Size formats bytes, in powers of 1000: "51 B", "1.2 MB".
func Size(n float64) string {
	for _, unit := range []string{"B", "KB", "MB", "GB"} {
		if n < 1000 {
			if unit == "B" {
				return fmt.Sprintf("%.0f B", n)
			}
			return fmt.Sprintf("%.1f %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.1f TB", n)
}

// Printable makes a peer's text harmless to a terminal and to a table: one line, no control
// characters.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
