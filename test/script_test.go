//go:build linux

package test

// This file runs the scripts of testdata/script: execctl as its user sees it.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Scripts have these commands beside those of testscript:
//
//	agent                    start an agent and put its address into $ADDR
//	exits CODE PROGRAM ARG…  run a program that must end with this exit code
//	fails PROGRAM            stdout was empty and stderr one line that begins with "PROGRAM: "
//	gone COMMANDLINE         wait until no process has this command line
//	await FILE               wait until FILE exists
//	fold FILE                read the JSON lines of execctl run --json, write the text they
//	                         come to into FILE.text and the result into FILE.result
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", binDir+":"+env.Getenv("PATH"))
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
			env.Values[testKey] = env.T()
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"agent": scriptAgent,
			"exits": scriptExits,
			"fails": scriptFails,
			"await": scriptAwait,
			"gone":  scriptGone,
			"fold":  scriptFold,
		},
	})
}

// testKey is the key of the script's testing.TB.
const testKey = "test"

func scriptAgent(ts *testscript.TestScript, neg bool, args []string) {
	t, ok := ts.Value(testKey).(testing.TB)
	if neg || len(args) > 0 || !ok {
		ts.Fatalf("usage: agent")
	}
	ts.Setenv("ADDR", startAgent(t).addr)
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func scriptFails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fails PROGRAM")
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("stdout is %q, want nothing", out)
	}
	line, prefix := ts.ReadFile("stderr"), args[0]+": "
	if !strings.HasPrefix(line, prefix) || strings.Index(line, "\n") != len(line)-1 {
		ts.Fatalf("stderr is %q, want one line that begins with %q", line, prefix)
	}
}

func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	path := ts.MkAbs(args[0])
	scriptEventually(ts, args[0]+" exists", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

func scriptGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone COMMANDLINE")
	}
	scriptEventually(ts, args[0]+" has ended", func() bool {
		paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
		ts.Check(err)
		return !slices.ContainsFunc(paths, func(path string) bool {
			line, _ := os.ReadFile(path) // it may be gone
			return strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " ")) == args[0]
		})
	})
}

func scriptEventually(ts *testscript.TestScript, what string, yes func() bool) {
	for deadline := time.Now().Add(patience); !yes(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func scriptFold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fold FILE")
	}
	text, result, err := foldLines(ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".text"), []byte(text), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".result"), append(result, '\n'), 0o600))
}

// foldLines folds what execctl run --json prints: start, batch…, result.
func foldLines(lines string) (text string, result []byte, err error) {
	var doc replica
	next := "start"
	for line := range strings.Lines(lines) {
		var object struct {
			Type string
			Ops  json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			return "", nil, fmt.Errorf("%q: %w", line, err)
		}
		switch {
		case object.Type == "start" && next == "start":
			next = "batch"
		case object.Type == "batch" && next == "batch":
			if err := doc.apply(object.Ops); err != nil {
				return "", nil, fmt.Errorf("%q: %w", line, err)
			}
		case object.Type == "result" && next == "batch":
			next = "nothing"
			result = bytes.TrimSpace([]byte(line))
		default:
			return "", nil, fmt.Errorf("%q: want %s", line, next)
		}
	}
	if next != "nothing" {
		return "", nil, fmt.Errorf("the lines end without a result")
	}
	settled, _ := doc.get("text").(string)
	live, _ := doc.get("live").(string)
	return settled + live, result, nil
}
