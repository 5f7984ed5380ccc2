package client_test

// This file is what the tests against a real agent share.

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/client/embed"
	"github.com/execagent/execagent/transport/protocol"
)

// dial connects to an agent of the test's own.
func dial(t *testing.T) *client.Conn {
	t.Helper()
	conn, err := embed.Dial(t.Context(), embed.Options{SpillDir: filepath.Join(t.TempDir(), "spill")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return conn.Conn
}

func start(t *testing.T, conn *client.Conn, spec client.Spec) *client.Command {
	t.Helper()
	cmd, err := conn.Start(t.Context(), spec)
	if err != nil {
		t.Fatalf("starting %+v: %v", spec, err)
	}
	t.Cleanup(func() { cmd.Close() })
	return cmd
}

// awaitText follows cmd until its view has the text.
func awaitText(t *testing.T, cmd *client.Command, text string) {
	t.Helper()
	for _, err := range cmd.Batches() {
		if err != nil {
			t.Fatalf("waiting for %q: %v", text, err)
		}
		if v := cmd.View(); strings.Contains(v.Text+v.Live, text) {
			return
		}
	}
	v := cmd.View()
	t.Fatalf("the command ended without %q: %q", text, v.Text+v.Live)
}

func wait(t *testing.T, cmd *client.Command) *client.Result {
	t.Helper()
	r, err := cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantFailure checks that err is the agent's refusal with this code.
func wantFailure(t *testing.T, doing string, err error, code protocol.Code) {
	t.Helper()
	f := (*client.Failure)(nil)
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("%s: %v, want a failure %s", doing, err, code)
	}
}
