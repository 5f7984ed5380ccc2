package client_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
)

// lines returns n bytes in lines of 80 columns that do not compress well.
func lines(n int) []byte {
	raw := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(raw)
	text := base64.StdEncoding.EncodeToString(raw)
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(text[:80])
		b.WriteByte('\n')
		text = text[80:]
	}
	return b.Bytes()
}

// writeUntil writes until that fails.
func writeUntil(t *testing.T, w io.Writer) error {
	t.Helper()
	for range 10_000 {
		if _, err := w.Write([]byte("input\n")); err != nil {
			return err
		}
		time.Sleep(time.Millisecond) // the agent's word is on its way; nothing announces it
	}
	t.Fatal("writes go on succeeding")
	return nil
}

// TestStdinErrors: what a writer learns when its input is not taken. Nobody reads the batches
// meanwhile.
func TestStdinErrors(t *testing.T) {
	conn := dial(t)
	none := start(t, conn, client.Spec{Command: "sleep 600"})
	if _, err := none.Stdin().Write([]byte("x")); !errors.Is(err, client.ErrNoStdin) || !strings.Contains(err.Error(), "Stdin") {
		t.Errorf("no stdin: %v, want ErrNoStdin that names the option", err)
	}
	own := start(t, conn, client.Spec{Command: "sleep 600", Stdin: protocol.StdinBytes, StdinBytes: []byte("mine")})
	if _, err := own.Stdin().Write([]byte("x")); !errors.Is(err, client.ErrNoStdin) {
		t.Errorf("stdin of the spec's bytes: %v, want ErrNoStdin", err)
	}

	ended := start(t, conn, client.Spec{Command: "exit 0", Stdin: client.StdinPipe})
	if err := writeUntil(t, ended.Stdin()); !errors.Is(err, client.ErrProcessEnded) && !errors.Is(err, client.ErrStdinClosed) {
		t.Errorf("after the end, not yet known: %v", err)
	}
	wait(t, ended)
	if _, err := ended.Stdin().Write([]byte("x")); !errors.Is(err, client.ErrProcessEnded) {
		t.Errorf("after the result: %v, want ErrProcessEnded", err)
	}

	shut := start(t, conn, client.Spec{Command: "exec <&-; sleep 600", Stdin: client.StdinPipe})
	if err := writeUntil(t, shut.Stdin()); !errors.Is(err, client.ErrStdinClosed) {
		t.Errorf("closed by the command: %v, want ErrStdinClosed", err)
	}

	cat := start(t, conn, client.Spec{Command: "cat; sleep 600", Stdin: client.StdinPipe})
	other, err := conn.Attach(t.Context(), cat.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := cat.Stdin().Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := cat.Stdin().Write([]byte("x")); !errors.Is(err, client.ErrStdinClosed) {
		t.Errorf("after Close: %v, want ErrStdinClosed", err)
	}
	if err := cat.Stdin().Close(); !errors.Is(err, client.ErrStdinClosed) {
		t.Errorf("a second Close: %v, want ErrStdinClosed", err)
	}
	if err := writeUntil(t, other.Stdin()); !errors.Is(err, client.ErrStdinClosed) {
		t.Errorf("closed by another client: %v, want ErrStdinClosed", err)
	}
}

// TestPrompts is case C18.
func TestPrompts(t *testing.T) {
	conn := dial(t)
	cmd := start(t, conn, client.Spec{Command: "cat; echo rc=$?", Shell: "bash"})
	if wait(t, cmd); cmd.View().Text != "rc=0\n" {
		t.Errorf("cat without input: %q", cmd.View().Text)
	}
	const ask = `read -p 'name? ' x; echo "[$x]"`
	cmd = start(t, conn, client.Spec{Command: ask, Shell: "bash"})
	if wait(t, cmd); !strings.HasSuffix(cmd.View().Text, "[]\n") {
		t.Errorf("a question without input: %q", cmd.View().Text)
	}
	cmd = start(t, conn, client.Spec{Command: ask, Shell: "bash", Interactive: true})
	awaitText(t, cmd, "name? ")
	if _, err := cmd.Stdin().Write([]byte("bob\n")); err != nil {
		t.Fatal(err)
	}
	if wait(t, cmd); !strings.HasSuffix(cmd.View().Text, "[bob]\n") {
		t.Errorf("a question at a terminal: %q", cmd.View().Text)
	}
}

// TestTerminalInput is the first half of case C19: all that is typed arrives, however much.
func TestTerminalInput(t *testing.T) {
	conn := dial(t)
	cmd := start(t, conn, client.Spec{Interactive: true, Command: "stty -echo -onlcr; echo ready; cat; echo rc=$?"})
	awaitText(t, cmd, "ready")
	typed := lines(2 << 20)
	written := make(chan error, 1)
	go func() {
		_, err := cmd.Stdin().Write(typed)
		written <- errors.Join(err, cmd.Stdin().Close()) // Ctrl-D
	}()
	r := wait(t, cmd)
	if err := <-written; err != nil {
		t.Errorf("writing: %v", err)
	}
	kept, err := os.ReadFile(r.SpillPath)
	if err != nil {
		t.Fatal(err)
	}
	want := "ready\n" + string(typed) + "rc=0\n"
	if got := strings.ReplaceAll(string(kept), "ready\r\n", "ready\n"); got != want {
		t.Errorf("%d bytes came back, want the %d typed", len(got), len(want))
	}
}

// TestBlockedInput is its second half: input that a command does not read waits, and holds up
// nothing else.
func TestBlockedInput(t *testing.T) {
	conn := dial(t)
	for name, spec := range map[string]client.Spec{
		"terminal": {Interactive: true, Command: "echo ready; exec sleep 600"},
		"pipe":     {Pipe: true, Stdin: client.StdinPipe, Command: "echo ready; exec sleep 600"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := start(t, conn, spec)
			awaitText(t, cmd, "ready")
			written := make(chan error, 1)
			go func() {
				_, err := cmd.Stdin().Write(lines(1 << 20))
				written <- err
			}()
			other := start(t, conn, client.Spec{Command: "seq 1 100000"})
			if r := wait(t, other); r.ExitCode != 0 || r.Truncation.TotalLines != 100000 {
				t.Errorf("beside it: %+v", r)
			}
			if !spec.Pipe {
				if err := cmd.Resize(t.Context(), 90, 20); err != nil {
					t.Errorf("resize: %v", err)
				}
			}
			select {
			case err := <-written:
				t.Errorf("1 MiB was written to a command that reads nothing: %v", err)
			default:
			}
			begun := time.Now()
			if err := cmd.Cancel(t.Context()); err != nil {
				t.Fatal(err)
			}
			r := wait(t, cmd)
			t.Logf("killed within %v", time.Since(begun))
			if r.Reason != protocol.ReasonCanceled || time.Since(begun) > 10*time.Second {
				t.Errorf("after %v: %+v", time.Since(begun), r)
			}
			<-written // whether the end was known before its last byte was on its way or not
			if _, err := cmd.Stdin().Write([]byte("x")); !errors.Is(err, client.ErrProcessEnded) {
				t.Errorf("afterwards: %v, want ErrProcessEnded", err)
			}
		})
	}
}
