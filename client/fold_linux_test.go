package client_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/limits"
)

// TestLargestView: the largest view there may be, of the characters that JSON writes longest,
// comes through whole and in changes.
func TestLargestView(t *testing.T) {
	conn := dial(t)
	for _, line := range []string{"", `\\\\\\\\\\`} {
		spec := client.Spec{
			Command: fmt.Sprintf("yes '%s' | head -n %d", line, 5_000_000/(len(line)+1)), Pipe: true,
			Limits: limits.Limits{MaxBytes: limits.MaxMaxBytes, MaxLines: limits.MaxMaxBytes},
		}
		cmd := start(t, conn, spec)
		wait(t, cmd)
		want := strings.Repeat(line+"\n", limits.MaxMaxBytes/(len(line)+1))
		if got := cmd.View().Text; got != want {
			t.Errorf("lines of %q: a view of %d bytes, want %d", line, len(got), len(want))
		}
		again, err := conn.Attach(t.Context(), cmd.ID())
		if err != nil {
			t.Fatal(err)
		}
		wait(t, again)
		if got := again.View().Text; got != want {
			t.Errorf("lines of %q: attached, a view of %d bytes, want %d", line, len(got), len(want))
		}
	}
}
