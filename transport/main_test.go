// This file holds the start of the test binary.

package transport

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs a helper when this binary is started as a child (see
// helpers_test.go), and else the tests, with a check for leaked goroutines.
func TestMain(m *testing.M) {
	if name := os.Getenv(helperEnv); name != "" {
		os.Exit(runHelper(name))
	}
	goleak.VerifyTestMain(m)
}
