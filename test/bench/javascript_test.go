// Tests of the JavaScript peers: with stand-ins for node and npm, and with the real ones where they
// are installed already. Tests install nothing.

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/execagent/execagent/test/bench/gen"
)

func TestInstall(t *testing.T) {
	tools, project := t.TempDir(), nodeProject{t.TempDir()}
	t.Setenv("PATH", tools)
	if err := project.install(t.Context()); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("without node: error %v, want exec.ErrNotFound", err)
	}
	writeTool(t, tools, "node", "exit 1")
	writeTool(t, tools, "npm", "echo some talk; echo no network >&2; exit 1")
	if err := project.install(t.Context()); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("npm fails: error %v, want its complaint", err)
	}
	writeTool(t, tools, "npm", `[ "$1 $2" = "ci --ignore-scripts" ] && [ ! -e asked ] && : > asked`)
	if err := project.install(t.Context()); err != nil {
		t.Errorf("npm works: %v", err)
	}
	if _, err := os.Stat(filepath.Join(project.dir, "asked")); err != nil {
		t.Errorf("npm did not run in the project: %v", err)
	}
	done := filepath.Join(project.dir, "node_modules", ".package-lock.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(done), 0o700), os.WriteFile(done, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := project.install(t.Context()); err != nil { // this npm fails the second time
		t.Errorf("installed already: %v", err)
	}
}

func TestPiResultCheck(t *testing.T) {
	in := testInput(t, gen.Lines)
	var right piResult
	right.OK = true
	right.Result.SpillPath = in.path
	right.Result.Truncation.TotalBytes = in.bytes
	if err := right.check(in); err != nil {
		t.Errorf("a right result: %v", err)
	}
	for name, spoil := range map[string]func(r *piResult){
		"failure":   func(r *piResult) { r.OK, r.Error = false, "no shell" },
		"exit code": func(r *piResult) { r.Result.ExitCode = 1 },
		"total":     func(r *piResult) { r.Result.Truncation.TotalBytes-- },
		"file":      func(r *piResult) { r.Result.SpillPath = os.DevNull },
	} {
		wrong := right
		spoil(&wrong)
		if err := wrong.check(in); err == nil {
			t.Errorf("a result with a wrong %s: no error", name)
		}
	}
}

func TestPiSide(t *testing.T) {
	p, err := findPlaces()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(p.peers, "node_modules")); err != nil {
		t.Skip("the JavaScript peers are not installed: npm ci --ignore-scripts in test/bench/peers")
	}
	s := piSide(t.Context(), &workshop{places: p})
	if s.absent != nil {
		t.Skipf("the JavaScript environment: %v", s.absent)
	}
	got, err := s.run(t.Context(), testInput(t, gen.Lines), t.TempDir())
	if err != nil || got.seconds <= 0 || got.wireBytes <= 0 || got.peakKiB <= 0 {
		t.Errorf("sample %+v, %v, want every figure", got, err)
	}
}

func writeTool(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}
