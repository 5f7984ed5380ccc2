package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// asExecctl in the environment makes the test binary execctl itself.
const asExecctl = "EXECCTL_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asExecctl) != "" {
		os.Unsetenv(asExecctl)
		switch os.Args[1] {
		case "test-panic":
			panicAtTerminal()
		case "test-echo":
			echoRequests()
			os.Exit(0)
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

// echoRequests answers each JSON-RPC request on stdin with its params.
func echoRequests() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Params json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", m.ID, m.Params)
	}
}
