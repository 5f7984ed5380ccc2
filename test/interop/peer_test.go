// Package interop tests chord against the JavaScript package it is compatible
// with, @earendil-works/chord, in both directions. It consists of tests only.
//
// They need Node and npm: without them they fail in CI and are skipped elsewhere.
package interop

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// install makes node_modules what package-lock.json says, once.
var install = sync.OnceValue(func() error {
	if _, err := os.Stat("node_modules/@earendil-works/chord"); err == nil {
		return nil
	}
	out, err := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
})

// needPackage ends the test when the JavaScript package cannot be had.
func needPackage(t testing.TB) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missing(t, err)
		}
	}
	if err := install(); err != nil {
		missing(t, err)
	}
}

func missing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("CI has to run this test: %v", err)
	}
	t.Skipf("no peer: %v", err)
}

// peer is a Node process that runs peer.mjs.
type peer struct {
	t       testing.TB
	in      io.WriteCloser
	answers *bufio.Scanner
}

func startPeer(t testing.TB) *peer {
	t.Helper()
	needPackage(t)
	cmd := exec.Command("node", "peer.mjs")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("peer: %v", err)
		}
	})
	p := &peer{t: t, in: in, answers: bufio.NewScanner(out)}
	p.answers.Buffer(nil, 64<<20)
	return p
}

// ask sends a request, whose fields are those of argument and ask, and reads the
// answer into answer.
func (p *peer) ask(ask string, argument map[string]any, answer any) {
	p.t.Helper()
	argument["ask"] = ask
	line, err := json.Marshal(argument)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		p.t.Fatalf("peer: %v", err)
	}
	if !p.answers.Scan() {
		p.t.Fatalf("peer gives no answer: %v", p.answers.Err())
	}
	var failed struct{ Failure string }
	if err := json.Unmarshal(p.answers.Bytes(), &failed); err != nil {
		p.t.Fatalf("peer: %v", err)
	}
	if failed.Failure != "" {
		p.t.Fatalf("peer: %s", failed.Failure)
	}
	if err := json.Unmarshal(p.answers.Bytes(), answer); err != nil {
		p.t.Fatalf("peer: %v", err)
	}
}

// value reads JSON text.
func value(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// diff says how two JSON values differ, and nothing when they do not. cmp.Diff alone
// takes a minute over all the batches.
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}
