// The command line tool and a consumer in JavaScript.

package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// folded is what fold.mjs prints.
type folded struct {
	View struct {
		Text, Live string
		Truncation truncation
	}
	Result struct {
		Reason     string
		ExitCode   int
		Truncation truncation
		SpillPath  string
	}
	Batches int
}

type truncation struct {
	Truncated                bool
	TotalLines, TotalBytes   int
	OutputLines, OutputBytes int
}

// TestExecctlJSON pipes the output of execctl into a consumer in JavaScript: the
// text it ends with is the one that the result describes.
func TestExecctlJSON(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("execctl is its own agent on Linux only")
	}
	needPackage(t)
	execctl := filepath.Join(t.TempDir(), "execctl")
	if out, err := exec.Command("go", "build", "-o", execctl, "../../cmd/execctl").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, c := range []struct {
		name, command string
		lines         int
		flags         []string
	}{
		{"tail", "seq 1 300000", 300000, nil},
		{"head", "seq 1 300000", 300000, []string{"--retain=head"}},
		{"bytes", "seq 1 300000", 300000, []string{"--max-bytes=1000"}},
		{"everything", "seq 1 100", 100, nil},
		{"slowly", "for i in 1 2 3 4 5; do echo $i; sleep 0.15; done", 5, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runFolded(t, execctl, append(c.flags, "--", c.command))
			var all strings.Builder
			for i := range c.lines {
				fmt.Fprintln(&all, i+1)
			}
			checkFolded(t, got, all.String(), c.name == "head")
		})
	}
}

func runFolded(t *testing.T, execctl string, args []string) (got folded) {
	t.Helper()
	producer := exec.Command(execctl, append([]string{"run", "--json", "--spill-dir", t.TempDir()}, args...)...)
	consumer := exec.Command("node", "fold.mjs")
	var out bytes.Buffer
	producer.Stderr, consumer.Stderr, consumer.Stdout = os.Stderr, os.Stderr, &out
	var err error
	if consumer.Stdin, err = producer.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := producer.Start(); err != nil {
		t.Fatal(err)
	}
	if err := consumer.Run(); err != nil {
		t.Errorf("fold.mjs: %v", err)
	}
	if err := producer.Wait(); err != nil {
		t.Errorf("execctl %v: %v", args, err)
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("fold.mjs printed %q: %v", out.Bytes(), err)
	}
	return got
}

func checkFolded(t *testing.T, got folded, all string, head bool) {
	t.Helper()
	if got.Result.Reason != "exited" || got.Result.ExitCode != 0 || got.Batches < 2 {
		t.Errorf("result %+v after %d batches", got.Result, got.Batches)
	}
	described := got.Result.Truncation
	if got.View.Truncation != described {
		t.Errorf("the view says %+v, the result %+v", got.View.Truncation, described)
	}
	if described.TotalBytes != len(all) || described.TotalLines != strings.Count(all, "\n") {
		t.Errorf("totals %+v, want %d bytes", described, len(all))
	}
	text := got.View.Text + got.View.Live
	if len(text) != described.OutputBytes || strings.Count(text, "\n") != described.OutputLines {
		t.Errorf("text of %d bytes and %d lines, described as %+v", len(text), strings.Count(text, "\n"), described)
	}
	if described.Truncated != (len(text) < len(all)) {
		t.Errorf("%d of %d bytes, truncated is %v", len(text), len(all), described.Truncated)
	}
	if head && !strings.HasPrefix(all, text) || !head && !strings.HasSuffix(all, text) || text == "" {
		t.Errorf("text is not the right part of the output: %.60q … %q", text, text[max(0, len(text)-60):])
	}
	if spilled, err := os.ReadFile(got.Result.SpillPath); got.Result.SpillPath != "" && (err != nil || string(spilled) != all) {
		t.Errorf("spill of %d bytes, %v, want %d", len(spilled), err, len(all))
	}
}
