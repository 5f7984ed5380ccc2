package status

import (
	"bytes"
	"strings"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/transport/protocol"
)

// TestHostileText: what an agent says cannot move the cursor, forge a row or colour anything.
func TestHostileText(t *testing.T) {
	evil := "a\x1b[2J\nforged\trow\u202e"
	var b bytes.Buffer
	if err := Agent(&b, &client.AgentStatus{Software: evil, Instance: evil, KillMethod: evil}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 6 {
		t.Errorf("%d lines, want 6: %q", n, b.String())
	}
	rows := b.Len()
	code := 3
	if err := Table(&b, []client.Summary{{ID: evil, State: protocol.State(evil), Command: evil, Signal: evil}, {ExitCode: &code}}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String()[rows:], "\n"); n != 3 {
		t.Errorf("%d lines, want 3: %q", n, b.String()[rows:])
	}
	if strings.ContainsAny(b.String(), "\x1b\t\u202e") {
		t.Errorf("control characters in %q", b.String())
	}
}

func TestUnits(t *testing.T) {
	for n, want := range map[float64]string{0: "0 B", 999: "999 B", 1000: "1.0 KB", 1.25e6: "1.2 MB", 3e9: "3.0 GB", 4e15: "4000.0 TB"} {
		if got := Size(n); got != want {
			t.Errorf("Size(%v) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[float64]string{0: "0.0s", 59.94: "59.9s", 60: "1m0s", 3725.9: "1h2m5s"} {
		if got := Elapsed(n); got != want {
			t.Errorf("Elapsed(%v) = %q, want %q", n, got, want)
		}
	}
}
