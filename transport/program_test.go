// This file holds the tests of connections through a program.

package transport

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// programAddress makes this test binary, as the named helper, the program.
func programAddress(t *testing.T, helper string) Address {
	t.Helper()
	self, err := os.Executable()
	if err != nil || strings.Contains(self, " ") {
		t.Skipf("the test binary %q cannot stand in a stdio: address: %v", self, err)
	}
	t.Setenv(helperEnv, helper)
	return Address{SchemeStdio, self}
}

func TestProgramIsServed(t *testing.T) {
	ctx := testContext(t)
	conn, err := DialConn(ctx, programAddress(t, "agent"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Client(ctx, conn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Peer(), (Hello{"helper", MaxVersion, "i1"}); got != want {
		t.Errorf("Peer = %+v, want %+v", got, want)
	}
	st, err := s.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, st, 1, "over two pipes")
	mustRead(t, st, 1, "over two pipes")
	st.Close()
	s.Close()
	if p := conn.(*program); p.cmd.ProcessState == nil || !p.cmd.ProcessState.Success() {
		t.Errorf("after Close the program is %v, want a success", p.cmd.ProcessState)
	}
}

func TestProgramsThatAreNoAgents(t *testing.T) {
	for _, c := range []struct {
		helper string
		reason Reason
		says   []string
	}{
		{"exits 7", ReasonClosed, []string{"exit status 7", "ended before"}},
		{"greets", ReasonNotExecagent, []string{`"Welcome to host\n"`}},
		{"echoes", ReasonNotExecagent, []string{"greets as we do"}},
		{"stays", ReasonTimeout, []string{"sent nothing"}},
	} {
		t.Run(c.helper, func(t *testing.T) {
			conn, err := DialConn(testContext(t), programAddress(t, c.helper), Options{})
			if err != nil {
				t.Fatal(err)
			}
			opts := Options{}
			if c.reason == ReasonTimeout {
				opts.HandshakeTimeout = 100 * time.Millisecond
			}
			_, err = Client(testContext(t), conn, opts)
			checkHandshakeError(t, err, c.reason, c.says)
			if p := conn.(*program); p.cmd.ProcessState == nil {
				t.Error("the program was not waited for")
			}
		})
	}
}

func TestProgramMissing(t *testing.T) {
	a := Address{SchemeStdio, "/no/such/program with args"}
	var got *DialError
	if err := dialError(a); !errors.As(err, &got) || got.Address != a || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want a *DialError", err)
	}
	a.Target = "no-such-program-anywhere"
	if err := dialError(a); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("error %v, want exec.ErrNotFound", err)
	}
}

// helperExits7 ends like an ssh that could not connect.
func helperExits7() int { return 7 }

// helperGreets prints a line where the protocol should be, and waits.
func helperGreets() int {
	os.Stdout.WriteString("Welcome to host\n")
	io.Copy(io.Discard, os.Stdin)
	return 0
}

func helperEchoes() int {
	io.Copy(os.Stdout, os.Stdin)
	return 0
}

// helperStays says nothing and does not end with its input: it must be killed.
func helperStays() int {
	time.Sleep(time.Hour)
	return 0
}
