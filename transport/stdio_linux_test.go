// This file holds the test of taking standard input and output over.

package transport

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStdio lets a child take its standard input and output over, as pipes that
// stay open on our side, and reads what it found.
func TestStdio(t *testing.T) {
	childIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer childIn.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(testContext(t), self)
	cmd.Env = append(os.Environ(), helperEnv+"=stdio")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("helper: %v, stderr %q", err, stderr.String())
	}
	if got, want := stdout.String(), "through the connection\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	const want = "stray print\nchild: stdin is empty\nread released: true\n"
	if got := stderr.String(); got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
	// The pipe is shared with the child, and its mode with it.
	if flags := fileFlags(t, childIn); flags&unix.O_NONBLOCK != 0 {
		t.Errorf("flags of standard input are %#x, want it blocking again", flags)
	}
}

// fileFlags asks without Fd, which would itself make the file blocking.
func fileFlags(t *testing.T, f *os.File) (flags int) {
	t.Helper()
	raw, err := f.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { flags, _ = unix.FcntlInt(fd, unix.F_GETFL, 0) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return flags
}

// helperStdio reports on standard error what TestStdio expects.
func helperStdio() int {
	conn := Stdio()
	fmt.Println("stray print")
	io.WriteString(conn, "through the connection\n")
	rest, err := io.ReadAll(os.Stdin) // /dev/null by now
	if err == nil && len(rest) == 0 {
		fmt.Fprintln(os.Stderr, "child: stdin is empty")
	}
	// What a deadline can release, Close can: both need the poller.
	conn.(*stdio).in.(*movedFile).SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, err = conn.Read(make([]byte, 1))
	fmt.Fprintf(os.Stderr, "read released: %v\n", errors.Is(err, os.ErrDeadlineExceeded))
	conn.Close()
	return 0
}

func init() { helpers["stdio"] = helperStdio }
