package main

// This file lists complete outputs, and reads them.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/internal/status"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

type spillsFlags struct {
	place
	json bool
}

func (f *spillsFlags) set() *pflag.FlagSet {
	fs := quietFlags("execctl spills")
	f.place.set(fs)
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	return fs
}

// spills lists what is in an agent's spill directory.
func spills(ctx context.Context, args []string) (code int, err error) {
	var f spillsFlags
	fs := f.set()
	if err := parseFlags(fs, args); err != nil {
		return 0, err
	}
	if fs.NArg() > 0 {
		return 0, fmt.Errorf("spills: it takes no arguments, and %q is one", fs.Arg(0))
	}
	conn, err := reach(ctx, "spills", fs, &f.place, client.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	all, err := conn.Spills(ctx)
	if err != nil {
		return 0, err
	}
	print := spillTable
	if f.json {
		print = spillLines
	}
	if err := print(os.Stdout, all); err != nil {
		return 0, fmt.Errorf("writing the list: %w", err)
	}
	return 0, nil
}

func spillLines(w io.Writer, all []client.Spill) error {
	for _, s := range all {
		if _, err := w.Write(append(protocol.Encode(s), '\n')); err != nil {
			return err
		}
	}
	return nil
}

func spillTable(w io.Writer, all []client.Spill) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tSTATE\tEXIT\tENDED\tOUTPUT\tLINES\tIN FILE\tCOMMAND")
	for _, s := range all {
		exit, ended, kept := "-", "-", "-"
		if s.ExitCode != nil {
			exit = strconv.Itoa(*s.ExitCode)
		}
		if !s.Ended.IsZero() {
			ended = s.Ended.Local().Format(time.DateTime)
		}
		if s.Path != "" {
			kept = status.Size(float64(s.FileBytes))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", status.Printable(s.ID), status.Printable(string(s.State)),
			exit, ended, status.Size(float64(s.TotalBytes)), s.TotalLines, kept, status.Printable(s.Command))
	}
	return t.Flush()
}

type readFlags struct {
	place
	spill string
	lines string
}

func (f *readFlags) set() *pflag.FlagSet {
	fs := quietFlags("execctl read")
	f.place.set(fs)
	fs.StringVar(&f.spill, "spill", "", "ID of the execution whose output to read; execctl spills lists them")
	fs.StringVar(&f.lines, "lines", "", "lines to read, FROM:TO, both included; FROM: and :TO do too (default: all)")
	fs.Lookup("lines").DefValue = ""
	return fs
}

// read prints lines of a complete output, byte for byte, or on a terminal without what would
// command it.
func read(ctx context.Context, args []string) (code int, err error) {
	var f readFlags
	fs := f.set()
	if err := parseFlags(fs, args); err != nil {
		return 0, err
	}
	lines, err := parseLines(f.lines)
	if err != nil {
		return 0, err
	}
	if f.spill == "" || fs.NArg() > 0 {
		return 0, errors.New("read: say whose output with --spill ID, and give no other arguments; execctl spills lists them")
	}
	conn, err := reach(ctx, "read", fs, &f.place, client.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	r, err := conn.ReadSpill(ctx, f.spill, lines)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var out io.Writer = os.Stdout
	if term.IsTerminal(int(os.Stdout.Fd())) {
		out = visibleWriter{out}
	}
	if _, err := io.Copy(out, r); err != nil {
		return 0, fmt.Errorf("read: passing on the output: %w", err)
	}
	return 0, nil
}

// parseLines reads FROM:TO, one of which may be missing, or the number of one line.
func parseLines(text string) (client.Lines, error) {
	if text == "" {
		return client.Lines{}, nil
	}
	from, to, isRange := strings.Cut(text, ":")
	if !isRange {
		to = from
	}
	var l client.Lines
	var err error
	for _, bound := range []struct {
		text string
		to   *int64
	}{{from, &l.From}, {to, &l.To}} {
		if bound.text != "" {
			var parseErr error
			*bound.to, parseErr = strconv.ParseInt(bound.text, 10, 64)
			err = errors.Join(err, parseErr)
		}
	}
	backwards := l.To != 0 && l.To < l.From
	if err != nil || text == ":" || l.From < 0 || l.To < 0 || backwards || from == "0" || to == "0" {
		return client.Lines{}, fmt.Errorf("read: --lines %.40q: give FROM:TO, counted from 1, such as 100:250, 100: or :250", text)
	}
	return l, nil
}

// visibleWriter passes on text and newlines, and shows other control bytes as \xHH.
type visibleWriter struct{ w io.Writer }

func (v visibleWriter) Write(p []byte) (int, error) {
	var b strings.Builder
	for _, c := range p {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7F || c == 0x9B {
			fmt.Fprintf(&b, `\x%02x`, c)
			continue
		}
		b.WriteByte(c)
	}
	if _, err := io.WriteString(v.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}
