package client_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
)

func startStream(t *testing.T, conn *client.Conn, spec client.Spec) *client.Stream {
	t.Helper()
	s, err := conn.StartStream(t.Context(), spec)
	if err != nil {
		t.Fatalf("starting %+v: %v", spec, err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestStream: what goes in and comes out, byte for byte, and how it ends.
func TestStream(t *testing.T) {
	conn := dial(t)
	for name, c := range map[string]struct {
		spec           client.Spec
		in             string
		out, err       string
		code           int
		reason, signal string
	}{
		"both ways":    {client.Spec{Command: "cat; exit 4"}, "a\x00b\r\n\xff\xfe no newline", "a\x00b\r\n\xff\xfe no newline", "", 4, "exited", ""},
		"no input":     {client.Spec{Command: "printf 'x\\ny'"}, "", "x\ny", "", 0, "exited", ""},
		"merged":       {client.Spec{Command: "echo out; echo err >&2"}, "", "out\nerr\n", "", 0, "exited", ""},
		"apart":        {client.Spec{Command: "echo out; echo err >&2; echo more", SplitStderr: true}, "", "out\nmore\n", "err\n", 0, "exited", ""},
		"early close":  {client.Spec{Command: "echo bye; exec >&- 2>&-; cat; exit 2"}, "ignored", "bye\n", "", 2, "exited", ""},
		"a signal":     {client.Spec{Command: "echo x; kill -9 $$"}, "", "x\n", "", 137, "signaled", "KILL"},
		"no shell":     {client.Spec{Argv: []string{"head", "-c", "3"}}, "abcdef", "abc", "", 0, "exited", ""},
		"own input":    {client.Spec{Command: "cat", Stdin: protocol.StdinBytes, StdinBytes: []byte("mine")}, "", "mine", "", 0, "exited", ""},
		"a background": {client.Spec{Command: "sleep 0.5 & echo x"}, "", "x\n", "", 0, "exited", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := startStream(t, conn, c.spec)
			if c.in != "" {
				if _, err := s.Write([]byte(c.in)); err != nil {
					t.Fatal(err)
				}
			}
			if c.spec.Stdin == "" {
				if err := s.CloseWrite(); err != nil && !errors.Is(err, client.ErrProcessEnded) {
					t.Fatal(err)
				}
			}
			var stderr []byte
			var stderrErr error
			var wg sync.WaitGroup
			wg.Go(func() { stderr, stderrErr = io.ReadAll(s.Stderr()) })
			out, err := io.ReadAll(s)
			wg.Wait()
			if err := errors.Join(err, stderrErr); err != nil || string(out) != c.out || string(stderr) != c.err {
				t.Errorf("stdout %q, stderr %q, %v, want %q, %q", out, stderr, err, c.out, c.err)
			}
			r, err := s.Wait()
			if err != nil || r.ExitCode != c.code || string(r.Reason) != c.reason || c.signal != "" && *r.Signal != c.signal {
				t.Fatalf("%+v, %v, want exit %d, %s %s", r, err, c.code, c.reason, c.signal)
			}
			if r.Truncation.TotalBytes != int64(len(c.out)+len(c.err)) {
				t.Errorf("the result counts %d bytes", r.Truncation.TotalBytes)
			}
		})
	}
}

// TestStreamHalfClose: the end of stdout is not the end of the command, and the end of stdin
// not that of stdout.
func TestStreamHalfClose(t *testing.T) {
	conn := dial(t)
	s := startStream(t, conn, client.Spec{Command: "exec 2>&-; echo x; exec >&-; read answer; test $answer = yes && exit 6"})
	if out, err := io.ReadAll(s); err != nil || string(out) != "x\n" {
		t.Fatalf("stdout %q, %v", out, err)
	}
	if _, err := io.WriteString(s, "yes\n"); err != nil {
		t.Fatalf("after the end of stdout: %v", err)
	}
	if r, err := s.Wait(); err != nil || r.ExitCode != 6 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestStreamRefusals(t *testing.T) {
	conn := dial(t)
	s := startStream(t, conn, client.Spec{ID: "one", Command: "cat"})
	_, err := conn.StartStream(t.Context(), client.Spec{ID: "one", Command: "cat"})
	wantFailure(t, "a second stream", err, protocol.CodeNoStream)
	_, err = conn.StartStream(t.Context(), client.Spec{Command: "cat", Interactive: true})
	if se := (*protocol.SpecError)(nil); !errors.As(err, &se) {
		t.Errorf("an interactive stream: %v", err)
	}
	if err := s.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Wait(); err != nil || r.ExitCode != 0 {
		t.Errorf("the first: %+v, %v", r, err)
	}
}

// written is how much the execution has written, as the agent's list says.
func written(t *testing.T, conn *client.Conn, id string) int64 {
	t.Helper()
	l, err := conn.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Executions {
		if e.ID == id {
			return e.TotalBytes
		}
	}
	t.Fatalf("no %q in %+v", id, l)
	return 0
}

// stalledBytes is what a stalled command prints.
const stalledBytes = 16<<20 + int64(len("end\n"))

// stalled starts a command that prints 16 MiB to a stream that nobody reads, and waits until
// it has to wait.
func stalled(t *testing.T, conn *client.Conn) (*client.Stream, *client.Command) {
	t.Helper()
	// Hardly to be compressed: the transport's window counts compressed bytes.
	s := startStream(t, conn, client.Spec{Command: "base64 -w 79 /dev/urandom | head -c 16777216; echo end", Grace: 200 * time.Millisecond})
	view, err := conn.Attach(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { view.Close() })
	before := int64(-1)
	for now := written(t, conn, s.ID()); now != before || now == 0; {
		wait(t, start(t, conn, client.Spec{Command: "sleep 0.3"}))
		before, now = now, written(t, conn, s.ID())
	}
	if before > stalledBytes/4 {
		t.Errorf("the command has written %d bytes while nobody reads", before)
	}
	return s, view
}

// TestStreamBackpressure: the command waits for its reader, and goes on with it.
func TestStreamBackpressure(t *testing.T) {
	conn := dial(t)
	s, _ := stalled(t, conn)
	n, err := io.Copy(io.Discard, s)
	if err != nil || n != stalledBytes {
		t.Errorf("%d bytes, %v", n, err)
	}
	if r, err := s.Wait(); err != nil || r.ExitCode != 0 || r.Truncation.TotalBytes != n {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestStreamGone: a client that leaves releases the command.
func TestStreamGone(t *testing.T) {
	conn := dial(t)
	s, view := stalled(t, conn)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(make([]byte, 1)); err == nil {
		t.Error("a closed stream can be read")
	}
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("a closed stream can be written")
	}
	if r, err := s.Wait(); err == nil {
		t.Errorf("a closed stream has a result: %+v", r)
	}
	if r := wait(t, view); r.ExitCode != 0 || r.Truncation.TotalBytes != stalledBytes || !strings.HasSuffix(view.View().Text, "end\n") {
		t.Errorf("after the client has left: %+v", r)
	}
	// A server ends with its client: that is the end of its input.
	cat := startStream(t, conn, client.Spec{Command: "cat; echo done"})
	view, err := conn.Attach(t.Context(), cat.ID())
	if err != nil {
		t.Fatal(err)
	}
	cat.Close()
	if wait(t, view); view.View().Text != "done\n" {
		t.Errorf("text %q", view.View().Text)
	}
}

// TestStreamKilled: a client that does not read cannot keep a killed command.
func TestStreamKilled(t *testing.T) {
	conn := dial(t)
	s, view := stalled(t, conn)
	if err := s.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := wait(t, view); r.Reason != protocol.ReasonCanceled {
		t.Errorf("%+v", r)
	}
	_, err := io.Copy(io.Discard, s)
	if lost := (*client.LostError)(nil); !errors.As(err, &lost) {
		t.Errorf("reading what was cut off: %v, want a *LostError", err)
	}
}

// TestStreamOfClosedConn: a Conn that is closed leaves nobody waiting.
func TestStreamOfClosedConn(t *testing.T) {
	conn := dial(t)
	s, _ := stalled(t, conn)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Wait(); err == nil {
		t.Errorf("%+v", r)
	}
	if _, err := io.ReadAll(s); err == nil {
		t.Error("a lost stream ends as if it were complete")
	}
}

// message is what the JSON-RPC server echoes.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      int             `json:"id"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
}

// TestStreamJSONRPC: a server of a line-based protocol, 100 MB each way, in bounded memory.
func TestStreamJSONRPC(t *testing.T) {
	conn := dial(t)
	const size = 100_000
	requests := 1000
	if underRace || testing.Short() {
		requests = 50
	}
	s := startStream(t, conn, client.Spec{Argv: []string{os.Args[0]}, Env: []string{client.ServeEcho + "=1"}})
	text := lines(2 * size)
	params := func(id int) []byte {
		p, err := json.Marshal(string(text[id : id+size]))
		if err != nil {
			t.Error(err)
		}
		return p
	}
	begun := time.Now()
	var writer sync.WaitGroup
	writer.Go(func() {
		for id := range requests {
			m, err := json.Marshal(message{JSONRPC: "2.0", ID: id, Params: params(id)})
			if err == nil {
				_, err = s.Write(append(m, '\n'))
			}
			if err != nil {
				t.Errorf("request %d: %v", id, err)
				return
			}
		}
		if err := s.CloseWrite(); err != nil {
			t.Error(err)
		}
	})
	peak := uint64(0)
	in := bufio.NewReaderSize(s, 64<<10)
	for id := range requests {
		line, err := in.ReadBytes('\n')
		var m message
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil || m.ID != id || !bytes.Equal(m.Result, params(id)) {
			t.Fatalf("answer %d: id %d, %d bytes, %v", id, m.ID, len(m.Result), err)
		}
		if id%50 == 0 {
			var stats runtime.MemStats
			runtime.GC() // what other tests have left, and a busy machine has not yet swept, is not ours
			runtime.ReadMemStats(&stats)
			peak = max(peak, stats.HeapAlloc)
		}
	}
	writer.Wait()
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("%d bytes follow, %v", len(rest), err)
	}
	r, err := s.Wait()
	if err != nil || r.ExitCode != 0 || r.Truncation.TotalBytes < int64(requests*size) {
		t.Fatalf("%+v, %v", r, err)
	}
	if info, err := os.Stat(r.SpillPath); err != nil || info.Size() != r.Truncation.TotalBytes {
		t.Errorf("the spill: %v, %v, want %d bytes", info, err, r.Truncation.TotalBytes)
	}
	if peak > 64<<20 {
		t.Errorf("client and agent together needed %d MiB", peak>>20)
	}
	t.Logf("%d bytes came back in %v; at most %d MiB of heap", r.Truncation.TotalBytes, time.Since(begun).Round(time.Millisecond), peak>>20)
}
