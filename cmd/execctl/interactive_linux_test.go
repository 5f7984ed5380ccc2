package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/execagent/execagent/execagent"
	"github.com/execagent/execagent/transport"
	"golang.org/x/sys/unix"
)

// bound is how long to look for a text that has to come.
const bound = 20 * time.Second

// person is somebody at a terminal who runs execctl.
type person struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File
	output chan []byte // closed when nobody has the terminal open
	seen   []byte
	before unix.Termios
}

// sit gives execctl a terminal of 80 by 24.
func sit(t *testing.T, args ...string) *person {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, master: master, slave: slave, output: make(chan []byte, 1024)}
	p.before = p.settings()
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), asExecctl+"=1", "TERM=xterm-test", "XDG_STATE_HOME="+t.TempDir())
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.output)
		for {
			buf := make([]byte, 4096)
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			p.output <- buf[:n]
		}
	}()
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
		slave.Close()
		master.Close()
		for range p.output {
		}
		<-read
	})
	return p
}

func (p *person) settings() unix.Termios {
	p.t.Helper()
	s, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return *s
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// sees waits until the text has come, and forgets what came up to it.
func (p *person) sees(text string) {
	p.t.Helper()
	deadline := time.After(bound)
	for {
		if i := bytes.Index(p.seen, []byte(text)); i >= 0 {
			p.seen = p.seen[i+len(text):]
			return
		}
		select {
		case b, ok := <-p.output:
			if !ok {
				p.t.Fatalf("the terminal was closed before %q: %q", text, p.seen)
			}
			p.seen = append(p.seen, b...)
		case <-deadline:
			p.t.Fatalf("no %q: %q", text, p.seen)
		}
	}
}

// leaves waits for execctl's end: its exit code, and a terminal as it was.
func (p *person) leaves(want int) {
	p.t.Helper()
	err := p.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != want {
		p.t.Errorf("exit code %d, want %d, after %q", got, want, p.seen)
	}
	if after := p.settings(); after != p.before {
		p.t.Errorf("the terminal is left changed:\n%+v\n%+v", p.before, after)
	}
}

// serve runs an agent and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	addr := transport.Address{Scheme: transport.SchemeUnix, Target: filepath.Join(t.TempDir(), "sock")}
	l, err := transport.Listen(t.Context(), addr, transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := execagent.New(execagent.Options{SpillDir: filepath.Join(t.TempDir(), "spill")})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- a.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(a.Close(), <-done); err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return addr.String()
}

var bash = []string{"--", "PS1='here> ' exec bash --norc --noprofile"}

func runBash(flags ...string) []string {
	return append(append([]string{"run", "-i"}, flags...), bash...)
}

// TestInteractive: a session at a shell, with the terminal execctl is on.
func TestInteractive(t *testing.T) {
	p := sit(t, runBash()...)
	p.sees("here> ")
	p.types("echo $TERM; stty size\r")
	p.sees("\nxterm-test")
	p.sees("24 80")
	p.types("sh -c 'echo go\"\"ing; exec sleep 600'\r")
	p.sees("going") // it is in the foreground
	p.types("\x03")
	p.sees("^C")
	p.sees("here> ")
	if err := pty.Setsize(p.master, &pty.Winsize{Cols: 101, Rows: 33}); err != nil {
		t.Fatal(err)
	}
	p.types("until [ \"$(stty size)\" = '33 101' ]; do :; done; echo it is\r")
	p.sees("\nit is")
	p.types("exit 5\r")
	p.leaves(5)
}

// TestInteractiveEnds: every way out restores the terminal.
func TestInteractiveEnds(t *testing.T) {
	addr := serve(t)
	t.Run("SIGTERM", func(t *testing.T) {
		p := sit(t, "run", "-i", "--", "echo ready; exec sleep 600")
		p.sees("ready")
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		p.leaves(143)
	})
	t.Run("kill", func(t *testing.T) {
		p := sit(t, "run", "-i", "--addr", addr, "--id", "victim", "--", "echo ready; exec sleep 600")
		p.sees("ready")
		k := sit(t, "kill", "--addr", addr, "victim")
		k.leaves(0)
		p.leaves(143)
	})
	t.Run("refusal", func(t *testing.T) {
		sit(t, "run", "-i", "--cwd", "/no/such", "--", "true").leaves(125)
	})
	t.Run("end of file", func(t *testing.T) {
		p := sit(t, "run", "-i", "--", "cat; exit 4")
		p.types("line\r")
		p.sees("line\r\nline")
		p.types("\x04")
		p.leaves(4)
	})
	t.Run("panic", func(t *testing.T) {
		p := sit(t, "test-panic")
		p.leaves(2)
	})
}

// TestDetach: a shell survives its terminals, by keys and by their closing.
func TestDetach(t *testing.T) {
	addr := serve(t)
	p := sit(t, runBash("--addr", addr, "--id", "shell", "--detach-keys", "ctrl-p,ctrl-q")...)
	p.sees("here> ")
	p.types("x=kept; echo o''k\r")
	p.sees("ok")
	p.types("\x10\x11")
	p.sees("execctl attach shell comes back")
	p.leaves(0)

	p = sit(t, "attach", "--addr", addr, "shell")
	p.sees("here> ") // what the view has of the screen
	p.types("echo $x more\r")
	p.sees("\nkept more")
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.leaves(0)

	p = sit(t, "attach", "--addr", addr, "shell")
	p.sees("kept more")
	p.types("exit 6\r")
	p.leaves(6)
}

// TestAttachView: an execution without a terminal is shown as run does.
func TestAttachView(t *testing.T) {
	addr := serve(t)
	first := sit(t, "run", "--addr", addr, "--id", "job", "--stdin", "--", "echo working; read x; echo done $x; exit 3")
	first.sees("working")
	p := sit(t, "attach", "--addr", addr, "job")
	p.sees("working")
	leaver := sit(t, "attach", "--addr", addr, "job")
	leaver.sees("working")
	leaver.types("\x03")
	leaver.sees("detached: job goes on")
	leaver.leaves(0)
	first.types("well\r")
	p.sees("done well")
	p.leaves(3)
	first.leaves(3)
}

func TestPs(t *testing.T) {
	addr := serve(t)
	p := sit(t, "run", "-i", "--addr", addr, "--id", "one", "--", "echo ready; sleep 600 # \x1b[31m\tred")
	p.sees("ready")
	ps := sit(t, "ps", "--addr", addr)
	ps.sees("ID ")
	ps.sees("one  running  -")
	ps.sees("echo ready; sleep 600 #  [31m red")
	ps.leaves(0)
	sit(t, "signal", "--addr", addr, "one", "KILL").leaves(0)
	p.leaves(137)
	ps = sit(t, "ps", "--addr", addr, "--json")
	ps.sees(`{"id":"one","state":"settled",`)
	ps.sees(`"exitCode":137,"signal":"KILL"}`)
	ps.leaves(0)
}

// TestNoAgent: what needs an agent says so.
func TestNoAgent(t *testing.T) {
	t.Setenv("EXECAGENT_ADDR", "")
	for _, args := range [][]string{{"ps"}, {"kill", "x"}, {"signal", "x", "INT"}, {"attach", "x"}} {
		p := sit(t, args...)
		p.sees("execctl: " + args[0] + ": give --addr ADDRESS, or set EXECAGENT_ADDR")
		p.leaves(125)
	}
	addr := serve(t)
	for want, args := range map[string][]string{
		"no execution":  {"attach", "--addr", addr, "nobody"},
		"no execution ": {"kill", "--addr", addr, "nobody"},
		"give an ID":    {"signal", "--addr", addr, "nobody"},
		"unknown flag":  {"ps", "--frobnicate"},
		"no arguments":  {"ps", "--addr", addr, "x"},
		"--detach-keys": {"run", "-i", "--addr", addr, "--detach-keys", "boo", "--", "true"},
		"its agent":     {"run", "-i", "--addr", "", "--detach-keys", "a", "--", "true"},
		"a person":      {"run", "-i", "--json", "--", "true"},
	} {
		p := sit(t, args...)
		p.sees(strings.TrimSpace(want))
		p.leaves(125)
	}
}
