//go:build linux

package terminal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds every wait for tmux.
const patience = 30 * time.Second

// printerSocket is where a printer, this program run again in tmux, takes streams from.
const printerSocket = "EXECAGENT_TEST_PRINTER"

// tmux is a server of our own with one pane, in which a printer prints what it is given.
type tmux struct {
	t             testing.TB
	socket        string
	printer       net.Conn
	columns, rows int
}

// startTmux starts a tmux of this size. It ends with the test.
func startTmux(t testing.TB, columns, rows int) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux here to compare with")
	}
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "printer"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := &tmux{t: t, socket: filepath.Join(dir, "tmux"), columns: columns, rows: rows}
	t.Cleanup(func() { _ = m.command("kill-server").Run() })
	m.run("start-server", ";", "set-option", "-g", "history-limit", "20000", ";",
		"new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows),
		"-e", printerSocket+"="+listener.Addr().String(), self, ";",
		"set-option", "-g", "status", "off", ";",
		"resize-window", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows))
	_ = listener.(*net.UnixListener).SetDeadline(time.Now().Add(patience))
	if m.printer, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.printer.Close() })
	return m
}

func (m *tmux) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-S", m.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX=", "TERM=xterm-256color")
	return cmd
}

func (m *tmux) run(args ...string) string {
	m.t.Helper()
	var stderr bytes.Buffer
	cmd := m.command(args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		m.t.Fatalf("tmux %q: %v: %s", args, err, stderr.Bytes())
	}
	return string(out)
}

// show returns the pane's text after a stream, scrollback included, wrapped lines joined or not.
func (m *tmux) show(stream []byte, join bool) string {
	m.t.Helper()
	// A full reset, and no history.
	m.print([]byte("\033[?1049l\033c\033[3J\033(B\033)B\017"))
	m.print(stream)
	args := []string{"capture-pane", "-p", "-S", "-"}
	if join {
		args = append(args, "-J")
	}
	return m.run(args...)
}

// print returns when tmux has read all of p.
func (m *tmux) print(p []byte) {
	m.t.Helper()
	_ = m.printer.SetDeadline(time.Now().Add(patience))
	err := binary.Write(m.printer, binary.BigEndian, uint32(len(p)))
	if err == nil {
		_, err = m.printer.Write(p)
	}
	if err == nil {
		_, err = io.ReadFull(m.printer, make([]byte, 1))
	}
	if err != nil {
		m.t.Fatalf("printing %q: %v", p, err)
	}
}

// printer is the program in the pane. For each stream it is given it prints it, asks the terminal
// where the cursor is, and answers when the terminal has: then all before it has been read.
func printer(socket string) error {
	state, err := unix.IoctlGetTermios(0, unix.TCGETS)
	if err != nil {
		return err
	}
	state.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG
	state.Iflag &^= unix.ICRNL | unix.IXON
	if err := unix.IoctlSetTermios(0, unix.TCSETS, state); err != nil {
		return err
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	for {
		var size uint32
		if err := binary.Read(conn, binary.BigEndian, &size); err != nil {
			return err
		}
		p := make([]byte, min(size, 1<<20))
		if _, err := io.ReadFull(conn, p); err != nil {
			return err
		}
		// CAN ends a sequence that the stream may have left open.
		if _, err := os.Stdout.Write(append(p, "\x18\033[6n"...)); err != nil {
			return err
		}
		for b := make([]byte, 1); b[0] != 'R'; {
			if _, err := os.Stdin.Read(b); err != nil {
				return err
			}
		}
		if _, err := conn.Write([]byte{1}); err != nil {
			return err
		}
	}
}

func TestMain(m *testing.M) {
	if socket := os.Getenv(printerSocket); socket != "" {
		if err := printer(socket); err != io.EOF {
			fmt.Fprintln(os.Stderr, "printer:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// clean takes away what a comparison is not about: blanks at the ends of lines, and blank lines
// at the end.
func clean(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
