// This file is the connection through a program such as ssh or docker exec.

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// programGrace is how long a program may take to end after its standard input
// was closed.
const programGrace = 2 * time.Second

// program speaks over a child's standard input and output. It owns the child
// and the goroutine that waits for it.
type program struct {
	name   string
	stdin  *os.File
	stdout *os.File
	cmd    *exec.Cmd
	exited chan struct{} // closed once cmd.ProcessState is set
	hangUp sync.Once
	grace  *time.Timer // set by hangUp
}

// startProgram starts the command line of a stdio: address.
func startProgram(ctx context.Context, a Address) (io.ReadWriteCloser, error) {
	argv := strings.Fields(a.Target)
	if len(argv) == 0 {
		return nil, &AddressError{a.String(), errors.New("names no program: write it behind the colon, as in stdio:docker exec -i NAME execagent serve --listen stdio:, with its arguments")}
	}
	if err := ctx.Err(); err != nil {
		return nil, &DialError{Address: a, Remedy: "allow more time", Err: err}
	}
	p, err := newProgram(argv)
	if err != nil {
		return nil, &DialError{Address: a, Remedy: "check the program's name and that it is installed", Err: err}
	}
	return p, nil
}

func newProgram(argv []string) (*program, error) {
	// Pipes of our own: those of os/exec are closed by Wait, unread output
	// included.
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer childIn.Close()
	stdout, childOut, err := os.Pipe()
	if err != nil {
		stdin.Close()
		return nil, err
	}
	defer childOut.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, os.Stderr
	if err := cmd.Start(); err != nil {
		stdin.Close()
		stdout.Close()
		return nil, err
	}
	p := &program{name: argv[0], stdin: stdin, stdout: stdout, cmd: cmd, exited: make(chan struct{})}
	go func() { // Close waits for it
		defer close(p.exited)
		cmd.Wait()
	}()
	return p, nil
}

func (p *program) Read(b []byte) (int, error)  { return p.stdout.Read(b) }
func (p *program) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// HangUp closes both pipes, which releases reads and writes, and starts the
// grace after which the child is killed.
func (p *program) HangUp() {
	p.hangUp.Do(func() {
		p.grace = time.AfterFunc(programGrace, func() { p.cmd.Process.Kill() })
		p.stdin.Close()
		p.stdout.Close()
	})
}

// Close hangs up and waits for the child. It is idempotent.
func (p *program) Close() error {
	p.HangUp()
	<-p.exited
	p.grace.Stop()
	return nil
}

// Epilogue says how the child ended, once Close has returned.
func (p *program) Epilogue() string {
	select {
	case <-p.exited:
		return fmt.Sprintf("%q ended: %v", p.name, p.cmd.ProcessState)
	default:
		return ""
	}
}
