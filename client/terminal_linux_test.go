package client_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
)

func startTerminal(t *testing.T, conn *client.Conn, spec client.Spec) *client.Terminal {
	t.Helper()
	term, err := conn.StartTerminal(t.Context(), spec)
	if err != nil {
		t.Fatalf("starting %+v: %v", spec, err)
	}
	t.Cleanup(func() { term.Close() })
	return term
}

// readUntil collects chunks until they hold the text, or the end when that is "".
func readUntil(t *testing.T, term *client.Terminal, text string) string {
	t.Helper()
	var got []byte
	for c, err := range term.Chunks() {
		if err != nil || c.Missed != 0 {
			t.Fatalf("after %q: %d bytes missed, %v", got, c.Missed, err)
		}
		got = append(got, c.Data...)
		if text != "" && bytes.Contains(got, []byte(text)) {
			return string(got)
		}
	}
	if text != "" {
		t.Fatalf("the command ended without %q: %q", text, got)
	}
	return string(got)
}

func typeAt(t *testing.T, term *client.Terminal, keys string) {
	t.Helper()
	if _, err := term.Stdin().Write([]byte(keys)); err != nil {
		t.Fatalf("typing %q: %v", keys, err)
	}
}

// TestTerminal: a shell that a person types at, from prompt to exit code.
func TestTerminal(t *testing.T) {
	conn := dial(t)
	term := startTerminal(t, conn, client.Spec{Interactive: true, Argv: []string{"bash", "--norc", "--noprofile"}, Env: []string{"PS1=here> ", "TERM=xterm"}, Columns: 80, Rows: 24})
	readUntil(t, term, "here> ")
	typeAt(t, term, "tty >/dev/null && printf '\\033[1mbo''ld\\033[m\\n'\r")
	if got := readUntil(t, term, "bold"); !strings.Contains(got, "\x1b[1mbold") {
		t.Errorf("an escape sequence came as %q", got)
	}
	// Once it speaks it is in the foreground; before, the shell may take the Ctrl-C for itself.
	typeAt(t, term, "sh -c 'echo st''arted; exec sleep 600'\r")
	readUntil(t, term, "started")
	typeAt(t, term, "\x03") // Ctrl-C
	readUntil(t, term, "here> ")
	if err := term.Resize(t.Context(), 91, 17); err != nil {
		t.Fatal(err)
	}
	typeAt(t, term, "stty size\r")
	readUntil(t, term, "17 91")
	typeAt(t, term, "exit 7\r")
	readUntil(t, term, "")
	for range 2 {
		if r, err := term.Wait(); err != nil || r.ExitCode != 7 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if _, err := term.Stdin().Write([]byte("x")); !errors.Is(err, client.ErrProcessEnded) {
		t.Errorf("typing at what has ended: %v", err)
	}
}

// TestTerminalIsComplete: a client that keeps up gets every byte, the first and the last too.
func TestTerminalIsComplete(t *testing.T) {
	conn := dial(t)
	for _, spec := range []client.Spec{{Command: "printf 'first\\nlast'"}, {Command: "printf 'first\\nlast'", Pipe: true}} {
		for range 20 {
			spec.ID = client.NewID()
			if got := readUntil(t, startTerminal(t, conn, spec), ""); got != "first\nlast" {
				t.Errorf("pipe %v: got %q", spec.Pipe, got)
			}
		}
	}
}

// TestTerminalAttach: two terminals at one shell, one of them coming later.
func TestTerminalAttach(t *testing.T) {
	conn := dial(t)
	first := startTerminal(t, conn, client.Spec{Interactive: true, Command: "stty -echo; echo ready; read x; echo got $x"})
	readUntil(t, first, "ready")
	second, err := conn.AttachTerminal(t.Context(), first.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	typeAt(t, second, "it\r")
	for _, term := range []*client.Terminal{first, second} {
		if got := strings.TrimSpace(readUntil(t, term, "")); got != "got it" {
			t.Errorf("got %q", got)
		}
	}
	third, err := conn.AttachTerminal(t.Context(), first.ID())
	if err != nil {
		t.Fatal(err)
	}
	if got := readUntil(t, third, ""); got != "" {
		t.Errorf("after the end: %q", got)
	}
	if r, err := third.Wait(); err != nil || r.ExitCode != 0 {
		t.Errorf("after the end: %+v, %v", r, err)
	}
	_, err = conn.AttachTerminal(t.Context(), "nobody")
	wantFailure(t, "an unknown ID", err, protocol.CodeUnknownID)
}

// TestTerminalGap: a client that does not read holds nothing up, and learns how much it missed.
func TestTerminalGap(t *testing.T) {
	conn := dial(t)
	const total = 8 << 20
	term := startTerminal(t, conn, client.Spec{Pipe: true, Stdin: client.StdinPipe, Command: "yes abcdefghijklmnopqrstuvwxyz | head -c 8388608; read x; printf end"})
	view, err := conn.Attach(t.Context(), term.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	for _, err := range view.Batches() { // they go on while the terminal does not
		if err != nil {
			t.Fatal(err)
		}
		if view.View().Truncation.TotalBytes == total {
			break
		}
	}
	typeAt(t, term, "\n")
	if r := wait(t, view); r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	var data, missed, gaps int64
	var last []byte
	for c, err := range term.Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		data += int64(len(c.Data))
		missed += c.Missed
		if c.Missed > 0 {
			gaps++
		} else {
			last = append(last[:0], c.Data...)
		}
	}
	if data+missed != total+3 || gaps == 0 || data > 2*protocol.MaxRawBehind || !bytes.HasSuffix(last, []byte("end")) {
		t.Errorf("%d bytes came and %d were missed in %d gaps, want %d in all, few of them, ending in %q", data, missed, gaps, total+3, "end")
	}
}

// TestTerminalQuery is case C20: the agent answers no query of a terminal, and the view never
// shows one. A person's terminal answers what a [client.Terminal] passes on.
func TestTerminalQuery(t *testing.T) {
	conn := dial(t)
	const ask = `printf '\033[6n'; IFS= read -rs -t 1 -d R p; echo "rc=$? len=${#p}"`
	for want, spec := range map[string]client.Spec{
		"rc=1 len=0":   {Command: ask, Shell: "bash"}, // the end of its empty input
		"rc=142 len=0": {Command: ask, Shell: "bash", Interactive: true},
	} {
		cmd := start(t, conn, spec)
		if wait(t, cmd); strings.TrimSpace(cmd.View().Text) != want {
			t.Errorf("interactive %v: %q, want %q", spec.Interactive, cmd.View().Text, want)
		}
	}
	term := startTerminal(t, conn, client.Spec{Command: ask, Shell: "bash", Interactive: true})
	readUntil(t, term, "\x1b[6n")
	typeAt(t, term, "\x1b[1;1R")
	if got := readUntil(t, term, ""); !strings.Contains(got, "rc=0 len=5") {
		t.Errorf("an answered query: %q", got)
	}
}
