// Tests of inputs: made, found, repaired, compared.

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/execagent/execagent/test/bench/gen"
	"pgregory.net/rapid"
)

func TestPrepareInput(t *testing.T) {
	dir := t.TempDir()
	const n = 1<<20 + 50 // ends within a line
	made, err := prepareInput(dir, gen.Lines, n)
	if err != nil {
		t.Fatal(err)
	}
	want := input{kind: gen.Lines, path: made.path, bytes: n, lines: n / 100, open: true}
	if made != want {
		t.Errorf("prepareInput = %+v, want %+v", made, want)
	}
	before, err := os.Stat(made.path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prepareInput(dir, gen.Lines, n); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(made.path)
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("a right input was made again (%v)", err)
	}
}

func TestPrepareInputRepairs(t *testing.T) {
	in := testInput(t, gen.Mixed)
	right, err := os.ReadFile(in.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string][]byte{
		"shorter": right[:len(right)-1], "longer": append(bytes.Clone(right), 'x'), "other": bytes.ToUpper(right), "empty": nil,
	} {
		if err := os.WriteFile(in.path, wrong, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := prepareInput(filepath.Dir(in.path), in.kind, size(in.bytes)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(in.path); err != nil || !bytes.Equal(got, right) {
			t.Errorf("%s input was not repaired (%v)", name, err)
		}
	}
}

func TestSameFiles(t *testing.T) {
	dir := t.TempDir()
	want, got := filepath.Join(dir, "want"), filepath.Join(dir, "got")
	rapid.Check(t, func(t *rapid.T) {
		// Around the MiB in which files are compared.
		n := rapid.OneOf(rapid.IntRange(0, 10), rapid.IntRange(1<<20-2, 1<<20+2)).Draw(t, "bytes")
		a := make([]byte, n)
		b := bytes.Clone(a)
		same := true
		switch change := rapid.SampledFrom([]string{"none", "byte", "shorter", "longer"}).Draw(t, "change"); {
		case change == "byte" && n > 0:
			b[rapid.IntRange(0, n-1).Draw(t, "at")]++
			same = false
		case change == "shorter" && n > 0:
			b, same = b[:n-1], false
		case change == "longer":
			b, same = append(b, 0), false
		}
		if err := errors.Join(os.WriteFile(want, a, 0o600), os.WriteFile(got, b, 0o600)); err != nil {
			t.Fatal(err)
		}
		err := sameFiles(want, got)
		if same && err != nil || !same && !errors.Is(err, errDiffers) {
			t.Fatalf("files of %d and %d bytes, same = %v: %v", len(a), len(b), same, err)
		}
	})
	if err := sameFiles(want, filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that does not exist: error %v, want fs.ErrNotExist", err)
	}
}
