//go:build linux

package test

// This file is about execctl on a terminal: the live view, redrawn in place, and what is left
// of it.

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

const (
	screenRows, screenCols = 24, 80

	autowrapOff = "\x1b[?7l"
	autowrapOn  = "\x1b[?7h"
	reverse     = "\x1b[7m"
	eraseBelow  = "\x1b[J"
)

// terminal is execctl run under a PTY, and the bytes it has written there.
type terminal struct {
	cmd   *exec.Cmd
	pty   *os.File
	bytes chan []byte // closed at the end
	seen  bytes.Buffer
}

// onTerminal starts execctl run with args under a PTY of 80 by 24.
func onTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(execctlPath(), append([]string{"run"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "PATH="+binDir+":"+os.Getenv("PATH"))
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: screenRows, Cols: screenCols})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{cmd: cmd, pty: file, bytes: make(chan []byte)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(term.bytes)
		for {
			p := make([]byte, 4096)
			n, err := file.Read(p)
			if err != nil {
				return // EIO at the end
			}
			term.bytes <- p[:n]
		}
	}()
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		file.Close()
		for range term.bytes {
		}
		<-read
	})
	return term
}

// await reads until text has come.
func (term *terminal) await(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(patience)
	for !bytes.Contains(term.seen.Bytes(), []byte(text)) {
		select {
		case p, ok := <-term.bytes:
			if !ok {
				t.Fatalf("the terminal has %q, want %q", term.seen.Bytes(), text)
			}
			term.seen.Write(p)
		case <-deadline:
			t.Fatalf("the terminal has %q after %v, want %q", term.seen.Bytes(), patience, text)
		}
	}
}

// end reads to the end and returns everything and the exit code. Of several carriage returns in
// a row, which do what one does, it returns one.
func (term *terminal) end(t *testing.T) (all string, code int) {
	t.Helper()
	deadline := time.After(patience)
	for open := true; open; {
		var p []byte
		select {
		case p, open = <-term.bytes:
			term.seen.Write(p)
		case <-deadline:
			t.Fatalf("execctl has not ended after %v; the terminal has %q", patience, term.seen.Bytes())
		}
	}
	err := term.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(term.seen.String(), "\r\r", "\r"), term.cmd.ProcessState.ExitCode()
}

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

// The last rows of the view are redrawn above a status line; at the end the whole final view, the
// footer and a summary take their place.
func TestLiveScreen(t *testing.T) {
	term := onTerminal(t, "--", "seq 1 1000; sleep 0.3; seq 1001 3000; sleep 0.7; exit 3")
	all, code := term.end(t)
	if code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	checkAutowrap(t, all)

	frames := strings.Split(all, eraseBelow)
	final := frames[len(frames)-1]
	for _, frame := range frames[1 : len(frames)-1] {
		if rows := strings.Count(frame, "\r\n") + 1; rows >= screenRows {
			t.Errorf("a frame of %d rows on a terminal of %d: %q", rows, screenRows, frame)
		}
		if !regexp.MustCompile(`\x1b\[7m [0-9.ms]+ · [0-9]+ lines · [0-9.]+ [KMG]?B · [0-9.]+ [KMG]?B/s( · /.*\.out)? \x1b\[m`).MatchString(frame) {
			t.Errorf("a frame without a status line: %q", frame)
		}
	}
	for _, want := range []string{
		// 22 rows of the view, and the cursor on the status line below them.
		autowrapOff + string(crlf(seq(979, 1000))) + reverse,
		autowrapOff + string(crlf(seq(2979, 3000))) + reverse,
		"\r\x1b[22A" + eraseBelow,
		".out \x1b[m" + autowrapOn,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the terminal was sent %q, want %q in it", all, want)
		}
	}
	want := regexp.MustCompile(`^` + string(crlf(seq(1001, 3000))) +
		`\[Showing lines 1001–3000 of 3000 \(limit: 2000 lines\)\. Complete output: /.*\.out\]\r\n` +
		`\x1b\[2m\[exit 3 · [0-9.]+ s · 3000 lines · 13\.9 KB\]\x1b\[m\r\n$`)
	if !want.MatchString(final) {
		t.Errorf("at the end there is %.200q … %q, want lines 1001 to 3000, a footer and a summary",
			final, final[max(0, len(final)-300):])
	}
}

// crlf is text as a terminal gets it.
func crlf(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")) }

// Ctrl-C cancels the command and leaves the terminal as it was.
func TestInterruptOnScreen(t *testing.T) {
	term := onTerminal(t, "--", "echo begun; exec sleep 600")
	term.await(t, "1 lines · 6 B")
	if _, err := term.pty.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	all, code := term.end(t)
	if code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
	checkAutowrap(t, all)
	final := all[strings.LastIndex(all, eraseBelow)+len(eraseBelow):]
	if !regexp.MustCompile(`^begun\r\nexecctl: the command was canceled after [0-9.]+ s\r\n\x1b\[2m\[exit 143 .*\]\x1b\[m\r\n$`).MatchString(final) {
		t.Errorf("at the end there is %q, want the view, the reason and a summary", final)
	}
}

// When the agent dies, what execctl has to say stands on a line of its own.
func TestLostAgentOnScreen(t *testing.T) {
	term := onTerminal(t, "--addr", "stdio:"+execagentPath()+" stdio", "--", "echo begun; sleep 0.3; kill -KILL $PPID")
	all, code := term.end(t)
	if code != 125 {
		t.Errorf("exit code %d, want 125", code)
	}
	checkAutowrap(t, all)
	if !regexp.MustCompile(`\r\nexecctl: client: connection lost, [^\r\n]*\r\n$`).MatchString(all) {
		t.Errorf("the terminal has %q, want a last line of its own that tells of the lost connection", all)
	}
}

// A terminal that people use shows it: lines cut at the right edge while it runs, a status line
// below, and at the end the view with its summary.
func TestScreenInTmux(t *testing.T) {
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
	// The terminal lets what is beyond the right edge overwrite the last column.
	if want := []string{"prompt", strings.Repeat("0", 79) + "7", "above"}; !slices.Equal(rows[:3], want) {
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
