package main

// This file lists executions.

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
	"unicode"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
	"github.com/spf13/pflag"
)

type psFlags struct {
	place
	json bool
}

func (f *psFlags) set() *pflag.FlagSet {
	fs := quietFlags("execctl ps")
	f.place.set(fs)
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	return fs
}

func ps(ctx context.Context, args []string) (code int, err error) {
	var f psFlags
	fs := f.set()
	if err := parseFlags(fs, args); err != nil {
		return 0, err
	}
	if fs.NArg() > 0 {
		return 0, fmt.Errorf("ps: it takes no arguments, and %q is one", fs.Arg(0))
	}
	conn, err := reach(ctx, "ps", fs, &f.place, client.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	list, err := conn.List(ctx)
	if err != nil {
		return 0, err
	}
	print := printTable
	if f.json {
		print = printLines
	}
	if err := print(os.Stdout, list.Executions); err != nil {
		return 0, fmt.Errorf("writing the list: %w", err)
	}
	if list.Omitted > 0 {
		fmt.Fprintf(os.Stderr, "execctl: %d older ones are not listed\n", list.Omitted)
	}
	return 0, nil
}

func printLines(w io.Writer, all []client.Summary) error {
	for _, s := range all {
		if _, err := w.Write(append(protocol.Encode(s), '\n')); err != nil {
			return err
		}
	}
	return nil
}

func printTable(w io.Writer, all []client.Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tSTATE\tEXIT\tTIME\tOUTPUT\tWATCHERS\tPID\tCOMMAND")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n",
			printable(s.ID), printable(string(s.State)), exitText(&s), elapsed(s.Seconds), size(float64(s.TotalBytes)), s.Watchers, s.PID, printable(s.Command))
	}
	return t.Flush()
}

// exitText is the exit code, or the signal's name, or "-".
func exitText(s *client.Summary) string {
	switch {
	case s.Signal != "":
		return printable(s.Signal)
	case s.ExitCode != nil:
		return strconv.Itoa(*s.ExitCode)
	}
	return "-"
}

func elapsed(seconds float64) string {
	if seconds < 60 {
		return fmt.Sprintf("%.1fs", seconds)
	}
	return (time.Duration(seconds) * time.Second).String()
}

// printable has one line of text harmless to a terminal and to the table.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
