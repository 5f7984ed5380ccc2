package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/execagent/execagent/client/journal"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// want is what the example prints, but for the time and the file's name.
const want = `call-1   bash  running
call-1   bash  waiting  approve {"command":"seq 1 1000"}?
call-1   bash  running
call-1   bash  running  all of it: FILE
call-1   bash  done     all of it: FILE
call-1 is done, error false, details {"exitCode":0,"reason":"exited","seconds":S}:
999
1000
[Showing lines 999–1000 of 1000 (limit: 2 lines). Complete output: FILE]

call-2   check running
call-2   check running  check a.go (steps: 1, done: 0, failed: 0)
call-2   check running  check a.go (steps: 1, done: 1, failed: 0)
call-2   check running  check b.go (steps: 2, done: 1, failed: 0)
call-2   check running  check b.go (steps: 2, done: 1, failed: 1)
call-2   check running  check c.go (steps: 3, done: 1, failed: 1)
call-2   check running  check c.go (steps: 3, done: 2, failed: 1)
call-2   check done     check c.go (steps: 3, done: 2, failed: 1)
call-2 is done, error false, details {"failures":["b.go"],"passed":2}:
checked a.go
checked b.go
checked c.go

call-3   help  running
call-3   help  running  bash (steps: 1, done: 0, failed: 0)
call-3-1 bash  running
call-3-1 bash  waiting  approve {"command":"exit 3"}?
call-3-1 bash  running
call-3   help  running  bash (steps: 1, done: 0, failed: 1)
call-3-1 bash  failed
call-3   help  failed   bash (steps: 1, done: 0, failed: 1)
call-3 is done, error true, details {}:
asked for help
no help came

`

func TestRun(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := run(t.Context(), &b, dir); err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(regexp.QuoteMeta(dir)+`[^\]\n]*`).ReplaceAllString(b.String(), "FILE")
	got = regexp.MustCompile(`"seconds":[0-9.e-]+`).ReplaceAllString(got, `"seconds":S`)
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	j, err := journal.Open(dir + "/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if keys, err := j.Pending(); err != nil || len(keys) != 0 {
		t.Errorf("pending after the run: %v, %v", keys, err)
	}
}
