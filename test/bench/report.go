// The report: Markdown for people, an error for the exit status.

package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A report is everything one start of the program found out.
type report struct {
	machine []fact
	args    []string
	opts    options
	root    string // the module: its path is nobody's business
	runs    []kindRun
	// elsewhere are the targets that are not measured on an input.
	elsewhere []verdict
}

func (r report) markdown() string {
	var b strings.Builder
	b.WriteString("# Benchmark results\n\n")
	fmt.Fprintf(&b, "Made by `%s`: %s of each input, %d rounds.\n\n", r.command(), r.opts.size, r.opts.rounds)
	for _, f := range r.machine {
		fmt.Fprintf(&b, "- %s: %s\n", f.name, f.value)
	}
	b.WriteString("\n" + howToRead)
	for _, caveat := range r.caveats() {
		fmt.Fprintf(&b, "\n**%s**\n", caveat)
	}
	r.writeTargets(&b)
	for _, run := range r.runs {
		run.writeTable(&b)
	}
	r.writeMissing(&b)
	return b.String()
}

const howToRead = "Every round runs every side once; figures are medians, with the least and the most in brackets.\n" +
	"Times are from the start of the command to its result, as the side's own program tells (for `script`,\n" +
	"ssh and tmux the life of the process). The ratio is that of one round, to the physical limit of the same mode: a Go\n" +
	"loop that reads a PTY with output processing off and counts newlines, or copies a 1 MiB pipe to a\n" +
	"file. CPU is the time of the side's processes and of the command, as the system accounts it (of\n" +
	"`codex exec-server` the server only). Memory is the peak resident set of the process that keeps the\n" +
	"output. The wire is what went to the watcher.\n"

// caveats say why these figures are not the ones to quote.
func (r report) caveats() []string {
	var list []string
	if r.opts.rounds < minRounds {
		list = append(list, fmt.Sprintf("%d rounds are too few for figures that count.", r.opts.rounds))
	}
	if r.opts.size < fullSize {
		list = append(list, fmt.Sprintf("The targets are for %s: at %s what is done once a command weighs more.", fullSize, r.opts.size))
	}
	return list
}

func (r report) command() string {
	return strings.Join(append([]string{"go run ./test/bench"}, r.args...), " ")
}

func (r report) writeTargets(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Targets, on %s\n\n| figure | target | measured | |\n|---|---|---|---|\n", r.runs[0].input.kind)
	for _, t := range targets {
		b.WriteString(verdict{t.text, t.most, t.bound, t.measured(r.runs[0])}.row())
	}
	if len(r.elsewhere) == 0 {
		return
	}
	b.WriteString("\n## Targets that need no input\n\n| figure | target | measured | |\n|---|---|---|---|\n")
	for _, v := range r.elsewhere {
		b.WriteString(v.row())
	}
}

func (k kindRun) writeTable(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Input %s: %d bytes, %d newlines\n\n", k.input.kind, k.input.bytes, k.input.lines)
	b.WriteString("| side | mode | seconds | over the limit | CPU seconds | peak MiB | wire kB |\n|---|---|---|---|---|---|---|\n")
	for _, r := range k.results {
		if r.err() != nil {
			continue
		}
		fmt.Fprintf(b, "| %s | %s |", r.side.name, r.side.mode)
		for _, list := range [][]float64{
			values(r.samples, seconds),
			ratios(r.samples, k.samples(limitOf(r.side.mode)), seconds),
			values(r.samples, cpuSeconds),
			values(r.samples, peakMiB),
			values(r.samples, wireKB),
		} {
			fmt.Fprintf(b, " %s |", cell(spreadOf(list)))
		}
		b.WriteString("\n")
	}
}

// writeMissing lists the sides without figures, each with its reason.
func (r report) writeMissing(b *strings.Builder) {
	gaps := r.gaps()
	if len(gaps) == 0 {
		return
	}
	b.WriteString("\n## Not measured\n\n")
	for _, g := range gaps {
		fmt.Fprintf(b, "- %s\n", strings.ReplaceAll(g.text, r.root+"/", ""))
	}
}

// A gap is a side without figures.
type gap struct {
	text    string
	failure bool // it should have had some: an absent side of ours, or work not done
}

// gaps returns the absent sides once, the failed ones with the input they failed on.
func (r report) gaps() []gap {
	var list []gap
	for i, run := range r.runs {
		for _, res := range run.results {
			switch {
			case res.side.absent != nil && i == 0:
				list = append(list, gap{fmt.Sprintf("%s: absent: %v", res.side.name, res.side.absent), res.side.own})
			case res.failed != nil:
				list = append(list, gap{fmt.Sprintf("%s, on %s: failed: %v", res.side.name, run.input.kind, res.failed), true})
			}
		}
	}
	return list
}

// failure returns an error naming the gaps that should not be.
func (r report) failure() error {
	var errs []error
	for _, g := range r.gaps() {
		if g.failure {
			errs = append(errs, errors.New(g.text))
		}
	}
	return errors.Join(errs...)
}

// cell shows a spread.
func cell(s spread) string {
	if math.IsNaN(s.median) {
		return "–"
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.median), number(s.min), number(s.max))
}

// number shows three significant digits, more of whole numbers.
func number(v float64) string {
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
