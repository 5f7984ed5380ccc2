//go:build linux

package test

// This file builds the programs under test, runs the tests, and looks for leaks.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// binDir holds the programs under test.
var binDir string

func execagentPath() string { return filepath.Join(binDir, "execagent") }
func execctlPath() string   { return filepath.Join(binDir, "execctl") }

// TestMain is also the main of the helper program: this binary under the name "helper", which
// testscript puts on PATH.
func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"helper": helper})
}

// suite is all tests and what they need around them.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	code, err := s.run()
	if err != nil {
		fmt.Fprintf(os.Stderr, "test: %v\n", err)
		return 1
	}
	return code
}

func (s suite) run() (code int, err error) {
	if binDir, err = os.MkdirTemp("", "execagent-bin-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(binDir)
	build := exec.Command("go", "build", "-o", binDir, "../cmd/execagent", "../cmd/execctl")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // static, as they are shipped
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	if code = s.m.Run(); code == 0 {
		err = goleak.Find()
	}
	return code, err
}
