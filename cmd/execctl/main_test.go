package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// asExecctl in the environment makes the test binary execctl itself.
const asExecctl = "EXECCTL_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asExecctl) != "" {
		os.Unsetenv(asExecctl)
		if len(os.Args) == 2 && os.Args[1] == "test-panic" {
			panicAtTerminal()
		}
		main()
	}
	goleak.VerifyTestMain(m)
}

// panicAtTerminal does what a bug would, in a goroutine, while the terminal is in raw mode.
func panicAtTerminal() {
	l := newLocal(os.Stdin, os.Stdout)
	if err := l.makeRaw(); err != nil {
		panic(err)
	}
	l.spawn(func() { panic("a bug") })
	select {}
}
