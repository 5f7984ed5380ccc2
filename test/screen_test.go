//go:build linux

package test

// This file is about execctl on a terminal: the live view, redrawn in place, and what is left
// of it.

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// checkAutowrap checks that autowrap is switched off and on in turns, and is on at the end.
func checkAutowrap(t *testing.T, all string) {
	t.Helper()
	on := true
	for rest := all; ; {
		i := strings.Index(rest, "\x1b[?7")
		if i < 0 {
			break
		}
		if on == (rest[i:i+len(autowrapOn)] == autowrapOn) {
			t.Fatalf("autowrap is not switched in turns at %.40q", rest[i:])
		}
		on = !on
		rest = rest[i+len(autowrapOn):]
	}
	if !on || !strings.Contains(all, autowrapOff) {
		t.Errorf("autowrap is off at the end, or never was: %.200q", all)
	}
}

// shown returns the lines that a terminal shows in the end, its history included.
func shown(t *testing.T, all string) []string {
	t.Helper()
	d := newDisplay(screenRows, screenCols)
	if err := d.write(all); err != nil {
		t.Fatal(err)
	}
	return d.lines()
}

// The last rows of the view are redrawn above a status line; at the end the whole final view, the
// footer and a summary take their place.
func TestLiveScreen(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, "--", `seq 1 1000; sleep 0.3; seq 1001 2998; printf '%080d\n%0100d\n' 7 8; sleep 0.7; exit 3`)
	all, code := term.end(t)
	if code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	checkAutowrap(t, all)
	lines := strings.Split(string(seq(1, 2998))+fmt.Sprintf("%080d\n%0100d", 7, 8), "\n")

	// A frame is complete when the next begins.
	d := newDisplay(screenRows, screenCols)
	seen := map[int]bool{}
	frames := strings.Split(all, autowrapOff)
	for i, sent := range frames[:len(frames)-1] {
		if err := d.write(sent + autowrapOff); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			continue
		}
		total, err := checkFrame(d, lines)
		if err != nil {
			t.Errorf("frame %d: %v", i, err)
		}
		seen[total] = true
	}
	if !seen[1000] || !seen[3000] {
		t.Errorf("the totals shown while it runs are %v, want 1000 and 3000 among them", seen)
	}

	got := shown(t, all)
	want := lines[1000:]
	if len(got) != len(want)+2 || !slices.Equal(got[:len(want)], want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Fatalf("at the end there are %d lines, of which number %d is %q, want line %d of the view, %q, and a footer and a summary",
			len(got), i, got[min(i, len(got)-1)], i, want[min(i, len(want)-1)])
	}
	footer := regexp.MustCompile(`^\[Showing lines 1001–3000 of 3000 \(limit: 2000 lines\)\. Complete output: /.*\.out\]$`)
	summary := regexp.MustCompile(`^\[exit 3 · [0-9.]+ s · 3000 lines · 14\.1 KB\]$`)
	if !footer.MatchString(got[len(want)]) || !summary.MatchString(got[len(want)+1]) {
		t.Errorf("the view is followed by %q, want a footer and a summary", got[len(want):])
	}
}

var statusLine = regexp.MustCompile(`^ [0-9.ms]+ · ([0-9]+) lines? · [0-9.]+ [KMG]?B · [0-9.]+ [KMG]?B/s`)

// checkFrame checks that the screen ends in a status line, and above it has the last of the lines
// it counts, and returns how many it counts.
func checkFrame(d *display, lines []string) (total int, err error) {
	rows := d.screen()
	if len(rows) == 0 || len(rows) == screenRows {
		return 0, fmt.Errorf("%d rows of %d are used", len(rows), screenRows)
	}
	rows, status := rows[:len(rows)-1], rows[len(rows)-1]
	m := statusLine.FindStringSubmatch(status)
	if m == nil {
		return 0, fmt.Errorf("%q is no status line", status)
	}
	if total, err = strconv.Atoi(m[1]); err != nil || total > len(lines) {
		return 0, fmt.Errorf("%q counts %d lines", status, total)
	}
	want := lines[max(0, total-(screenRows-2)):total]
	if len(rows) != len(want) {
		return 0, fmt.Errorf("%d rows above %q, want %d", len(rows), status, len(want))
	}
	for i, row := range rows {
		// What does not fit is cut, and may overwrite the last column.
		if most := screenCols - 1; len(want[i]) > screenCols && len(row) == screenCols && row[:most] == want[i][:most] {
			continue
		}
		unfinished := i == len(rows)-1 && strings.HasPrefix(want[i], row)
		if row != want[i] && !unfinished {
			return 0, fmt.Errorf("row %d above %q is %q, want %q", len(rows)-i, status, row, want[i])
		}
	}
	return total, nil
}

// Ctrl-C cancels the command and leaves the terminal as it was.
func TestInterruptOnScreen(t *testing.T) {
	term := onTerminal(t, "--", "echo begun; exec sleep 600")
	term.await(t, "· 6 B")
	if _, err := term.pty.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	all, code := term.end(t)
	if code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
	checkAutowrap(t, all)
	all = strings.Replace(all, "^C", "", 1) // the terminal's own echo
	want := regexp.MustCompile(`^begun\nexecctl: the command was canceled after [0-9.]+ s\n\[exit 143 · [^\n]*\]$`)
	if got := strings.Join(shown(t, all), "\n"); !want.MatchString(got) {
		t.Errorf("at the end there is %q, want the view, the reason and a summary", got)
	}
}

// A terminal that is closed takes the command with it: nobody would see it.
func TestHangupOnScreen(t *testing.T) {
	t.Parallel()
	mark := "E2E_MARK=" + rand.Text()
	term := onTerminal(t, "-e", mark, "--", "echo begun; exec sleep 600")
	t.Cleanup(func() { kill(t, marked(t, mark)) })
	term.await(t, "· 6 B")
	if len(marked(t, mark)) == 0 {
		t.Error("the command does not run")
	}
	term.pty.Close()
	if err := term.cmd.Wait(); err == nil {
		t.Error("execctl ended with 0 when its terminal was closed")
	}
	var left []process
	eventually(t, "the command has ended", func() bool {
		left = marked(t, mark)
		return len(left) == 0
	}, &left)
}

// When the agent dies, what execctl has to say stands on a line of its own.
func TestLostAgentOnScreen(t *testing.T) {
	term := onTerminal(t, "--addr", "stdio:"+execagentPath()+" stdio", "--", "echo begun; sleep 0.3; kill -KILL $PPID")
	all, code := term.end(t)
	if code != 125 {
		t.Errorf("exit code %d, want 125", code)
	}
	checkAutowrap(t, all)
	got := shown(t, all)
	if len(got) < 2 || got[0] != "begun" || !strings.HasPrefix(got[len(got)-1], "execctl: client: connection lost, ") {
		t.Errorf("at the end there is %q, want the view and a last line of its own that tells of the lost connection", got)
	}
}

// A terminal that people use shows it: lines cut at the right edge while it runs, a status line
// below, and at the end the view with its summary.
func TestScreenInTmux(t *testing.T) {
	t.Parallel()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	dir := shortTempDir(t)
	socket, release, code := filepath.Join(dir, "tmux"), filepath.Join(dir, "release"), filepath.Join(dir, "code")
	do := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(tmux, append([]string{"-f", "/dev/null", "-S", socket}, args...)...)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "XDG_STATE_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	// A row above, as a shell's prompt is: tmux takes erasing from the first row on for clearing
	// the screen, and keeps what was there.
	command := `echo prompt; ` + execctlPath() + ` run -- 'printf "%0100d\n" 7; echo above; until [ -e ` + release + ` ]; do sleep 0.05; done; echo below; exit 3'; echo $? >` + code + `; exec sleep 600`
	do("new-session", "-d", "-x", "80", "-y", "24", command)
	server := strings.TrimSpace(do("display-message", "-p", "#{pid}"))
	t.Cleanup(func() {
		do("kill-server")
		eventually(t, "the tmux server "+server+" has ended", func() bool {
			_, err := os.Stat("/proc/" + server)
			return err != nil
		})
	})
	capture := func() []string { return strings.Split(do("capture-pane", "-p"), "\n") }

	var rows []string
	live := regexp.MustCompile(`^ [0-9.ms]+ · 2 lines · 107 B · .*/s$`)
	eventually(t, "the live view with its status line", func() bool {
		rows = capture()
		return len(rows) > 3 && live.MatchString(rows[3])
	}, &rows)
	// What does not fit is cut, and may overwrite the last column.
	if want := "^prompt\n0{79}.\nabove$"; !regexp.MustCompile(want).MatchString(strings.Join(rows[:3], "\n")) {
		t.Errorf("the live view is %q, want %q above the status line", rows[:3], want)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	summary := regexp.MustCompile(`^\[exit 3 · [0-9.]+ s · 3 lines · 113 B\]$`)
	eventually(t, "a summary at the end", func() bool {
		rows = capture()
		return slices.ContainsFunc(rows, summary.MatchString)
	}, &rows)
	want := []string{"prompt", strings.Repeat("0", 80), strings.Repeat("0", 19) + "7", "above", "below"}
	if !slices.Equal(rows[:5], want) || !summary.MatchString(rows[5]) || strings.Join(rows[6:], "") != "" {
		t.Errorf("at the end the screen has %q, want %q and a summary", rows, want)
	}
	eventually(t, "execctl ends with the command's code", func() bool {
		got, _ := os.ReadFile(code) // missing so far
		return string(got) == "3\n"
	})
}
