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
		// The noise before it may be one line too long to be shown with it.
		if !strings.HasSuffix("\n"+o.text(), "\nAFTER\n") {
			t.Errorf("text ends %q, want the line AFTER", o.text()[max(0, len(o.text())-20):])
		}
		random, err := os.ReadFile(noise)
		if err != nil {
			t.Fatal(err)
		}
		raw := slices.Concat([]byte("\xff\xfeok\x00end\n"), random, []byte("\nAFTER\n"))
		if got := spilled(t, o.result); !bytes.Equal(got, raw) {
			t.Errorf("the spill is not what was printed: %d bytes, want %d; noise %x", len(got), len(raw), random)
		}
		o = run(t, conn, client.Spec{Command: `printf '\377\376ok\000end\n'`, Pipe: pipe})
		if want := "\uFFFD\uFFFDokend\n"; o.text() != want {
			t.Errorf("text %q, want %q", o.text(), want)
		}
	})
}

// Escape sequences are no text, however they arrive, and swallow nothing beyond their line (C14);
// a carriage return comes back as far as the unfinished line is kept.
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
		{long + `; printf '\rXY\n'`, strings.Repeat("q", 4097-2048) + "XY" + strings.Repeat("q", 5000-(4097-2048)-2) + "\n"},
	} {
		for _, pipe := range []bool{false, true} {
			o := run(t, conn, client.Spec{Command: c.command, Pipe: pipe})
			if o.text() != c.want {
				t.Errorf("%q: text %.80q, want %.80q", c.command, o.text(), c.want)
			}
		}
	}
}
