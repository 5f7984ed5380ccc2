package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// TestStreamServer: a client of a JSON-RPC server speaks to it through execctl, each request
// after the answer to the last, then many at once.
func TestStreamServer(t *testing.T) {
	cmd := exec.Command(os.Args[0], "stream", "--addr", serve(t), "--stderr", "--env", asExecctl+"=1", "--", os.Args[0], "test-echo")
	cmd.Env = append(os.Environ(), asExecctl+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ask := func(id, size int) {
		if _, err := fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":%d,"method":"echo","params":"%s"}`+"\n", id, strings.Repeat("x", size)); err != nil {
			t.Errorf("request %d: %v", id, err)
		}
	}
	answers := bufio.NewReader(stdout)
	hear := func(id, size int) {
		line, err := answers.ReadBytes('\n')
		var m struct {
			ID     int
			Result string
		}
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil || m.ID != id || len(m.Result) != size {
			t.Errorf("answer %d: %.80s, %v", id, line, err)
		}
	}
	for id := range 20 {
		ask(id, 10)
		hear(id, 10)
	}
	const many, large = 100, 100_000
	var asking sync.WaitGroup
	asking.Go(func() {
		for id := range many {
			ask(id, large)
		}
		if err := stdin.Close(); err != nil {
			t.Error(err)
		}
	})
	for id := range many {
		hear(id, large)
	}
	asking.Wait()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
