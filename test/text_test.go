//go:build linux

package test

// This file is about text: what of a command's bytes a person or a model gets to see.

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
)

// A character that comes in pieces is never seen broken (C12).
func TestCharacterInPieces(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		spec := client.Spec{Command: `printf 'x\342'; sleep 0.1; printf '\202'; sleep 0.1; printf '\254y\n'`, Pipe: pipe}
		o := follow(t, start(t, conn, spec), spec.Limits, func(v client.View) {
			if strings.Contains(v.Text+v.Live, "\uFFFD") {
				t.Errorf("text %q+%q, want no U+FFFD", v.Text, v.Live)
			}
		})
		if o.text() != "x€y\n" {
			t.Errorf("text %q, want %q", o.text(), "x€y\n")
		}
	})
}

// Bytes that are no text do no harm to the text, and are kept as they were (C13).
func TestBytesThatAreNoText(t *testing.T) {
	a := startAgent(t)
	conn := a.dial(t)
	bothModes(t, func(t *testing.T, pipe bool) {
		noise := filepath.Join(t.TempDir(), "noise")
		o := run(t, conn, client.Spec{
			Command: `printf '\377\376ok\000end\n'; head -c 4096 /dev/urandom | tee ` + noise + `; echo; echo AFTER`,
			Limits:  limits.Limits{MaxBytes: 1024}, // so that there is a spill
			Pipe:    pipe,
		})
		checkExit(t, o, 0)
		random, err := os.ReadFile(noise)
		if err != nil {
			t.Fatal(err)
		}
		raw := slices.Concat([]byte("\xff\xfeok\x00end\n"), random, []byte("\nAFTER\n"))
		if got := spilled(t, o.result); !bytes.Equal(got, raw) {
			t.Errorf("the spill is not what was printed: %d bytes, want %d; noise %x", len(got), len(raw), random)
		}
		// Noise with escapes and C1 controls may move the cursor, and what follows out of the view.
		o = run(t, conn, client.Spec{Command: `tr -d '\033\233\302' < ` + noise + "; echo; echo AFTER", Pipe: pipe})
		if !strings.HasSuffix(o.text(), "\nAFTER\n") {
			t.Errorf("text %q, want AFTER in it; noise %x", o.text(), random)
		}
		o = run(t, conn, client.Spec{Command: `printf '\377\376ok\000end\n'`, Pipe: pipe})
		if want := "\uFFFD\uFFFDokend\n"; o.text() != want {
			t.Errorf("text %q, want %q", o.text(), want)
		}
	})
}

// Escape sequences are no text, however they arrive, and swallow nothing beyond their line (C14);
// a carriage return comes back to the beginning of the row.
func TestEscapesAndReturns(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	const long = `head -c 5000 /dev/zero | tr '\0' q`
	for _, c := range []struct{ command, want string }{
		{`printf '\033[35mpink\033[0m \033]2;ttl\007end\n'`, "pink end\n"},
		{`printf '\033[3'; sleep 0.1; printf '5mpink\n'`, "pink\n"},
		{`printf '\033]2;never'; echo; echo tail`, "\ntail\n"},
		{`printf '\033P1;2qdata\033\\.\033(Bx\n'`, ".x\n"},
		{`printf '\302\23335mpink\302\235ttl\007end\n'`, "pinkend\n"},
		{`printf 'a\tb\007\177\n'`, "a\tb\n"},
		{`printf 'abcdef\rXY\n'`, "XYcdef\n"},
		{`printf 'a€c\rxyz\n'`, "xyz\n"},
	} {
		for _, pipe := range []bool{false, true} {
			o := run(t, conn, client.Spec{Command: c.command, Pipe: pipe})
			if o.text() != c.want {
				t.Errorf("%q: text %.80q, want %.80q", c.command, o.text(), c.want)
			}
		}
	}
	for _, pipe := range []bool{false, true} {
		row := 4800 // where the last row begins: of 200 columns, of 2048 without a terminal
		if pipe {
			row = 4096
		}
		o := run(t, conn, client.Spec{Command: long + `; printf '\rXY\n'`, Pipe: pipe})
		if want := strings.Repeat("q", row) + "XY" + strings.Repeat("q", 5000-row-2) + "\n"; o.text() != want {
			t.Errorf("pipe %v: a return in a line of 5000: text …%q, want …%q", pipe, o.text()[row-10:], want[row-10:])
		}
	}
}

// A region that is redrawn is seen at its latest state only, and what a command shows on its
// alternate screen not at all; with RawText nothing is redrawn.
func TestRedrawnRegion(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	conn := a.dial(t)
	const pull = `printf 'begin\nlayer 1: 0%%\nlayer 2: 0%%\n'; for i in 50 100; do sleep 0.15; printf '\033[2A\033[2Klayer 1: %d%%\n\033[2Klayer 2: %d%%\n' $i $i; done; echo end`
	bothModes(t, func(t *testing.T, pipe bool) {
		o := run(t, conn, client.Spec{Command: pull, Pipe: pipe})
		if want := "begin\nlayer 1: 100%\nlayer 2: 100%\nend\n"; o.text() != want || o.result.Truncation.Truncated {
			t.Errorf("text %q, truncated %v, want %q", o.text(), o.result.Truncation.Truncated, want)
		}
		if got := o.result.Truncation; got.TotalLines != 8 {
			t.Errorf("%d lines in all, want the 8 newlines that were printed", got.TotalLines)
		}
		seen := false
		spec := client.Spec{Command: `echo before; printf '\033[?1049h\033[Hfull screen\n'; sleep 0.3; printf '\033[?1049l'; echo after`, Pipe: pipe}
		o = follow(t, start(t, conn, spec), spec.Limits, func(v client.View) { seen = seen || v.AltScreen })
		if o.text() != "before\nafter\n" || !seen || o.view.AltScreen {
			t.Errorf("text %q, alternate screen seen %v, at the end %v; want before and after, seen, and no more", o.text(), seen, o.view.AltScreen)
		}
		o = run(t, conn, client.Spec{Command: `printf 'a\rb\033[31mc\033[A\t\302\205\n'`, Pipe: pipe, RawText: true})
		if want := "ab[31mc[A\t\n"; o.text() != want {
			t.Errorf("raw text %q, want %q", o.text(), want)
		}
	})
}
