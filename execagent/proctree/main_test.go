//go:build linux

package proctree

import (
	"flag"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain runs a helper instead of the tests when the environment names one: children are
// this binary again.
func TestMain(m *testing.M) {
	if name := os.Getenv(helperVar); name != "" {
		runHelper(name)
	}
	flag.Parse()
	grace = 3 * time.Second
	goleak.VerifyTestMain(m)
}
