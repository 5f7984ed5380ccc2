//go:build linux

package execagent

// This file is step 0, a spec to a running process: PTY or pipe, its own session, the shell.

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/execagent/execagent/transport/protocol"
	"golang.org/x/sys/unix"
)

// pipeSize is the capacity asked for a command's output pipe, in bytes: the default of 64 KiB
// makes writer and reader switch sixteen times as often.
const pipeSize = 1 << 20

// process is a command that was started.
type process struct {
	pid    int
	pidfd  *os.File // pollable; readable when the leader has exited. nil where the kernel has none
	shell  string
	output *os.File // the PTY master or the pipe's read end
	stdin  *os.File // the write end of the command's stdin, or nil
}

// startProcess runs the spec's command in a session of its own. The PTY is not its controlling
// terminal: opening /dev/tty to ask for a password fails at once instead of waiting for
// somebody, and no hangup follows the shell's exit.
func startProcess(spec *protocol.Spec) (_ *process, err error) {
	p := &process{}
	if p.shell, err = findShell(spec.Shell); err != nil {
		return nil, err
	}
	dir, err := checkDir(spec.Cwd)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	var theirs files
	defer theirs.close()
	stdout, err := p.openOutput(spec.Pipe, &theirs)
	if err != nil {
		return nil, err
	}
	stdin, err := p.openStdin(spec.Stdin, &theirs)
	if err != nil {
		return nil, err
	}
	pidfd := -1
	p.pid, err = syscall.ForkExec(p.shell, []string{p.shell, "-c", spec.Command}, &syscall.ProcAttr{
		Dir: dir,
		Env: environment(spec, dir),
		// Fd makes the child's ends blocking, as a command expects them.
		Files: []uintptr{stdin.Fd(), stdout.Fd(), stdout.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd},
	})
	if err != nil {
		return nil, startError(p.shell, spec, err)
	}
	p.pidfd = pollable(pidfd)
	return p, nil
}

func startError(shell string, spec *protocol.Spec, err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return fmt.Errorf("start %s: %w: the command has %d bytes and the kernel takes 128 KiB in one argument: put it in a file and run that", shell, err, len(spec.Command))
	}
	return fmt.Errorf("start %s: %w", shell, err)
}

// pollable wraps a pidfd so that waiting for it costs no thread.
func pollable(fd int) *os.File {
	if fd < 0 {
		return nil
	}
	if err := unix.SetNonblock(fd, true); err != nil { // Linux before 5.10
		unix.Close(fd)
		return nil
	}
	return os.NewFile(uintptr(fd), "pidfd")
}

// openOutput makes the PTY or pipe and returns the command's end.
func (p *process) openOutput(pipe bool, theirs *files) (*os.File, error) {
	if pipe {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("open an output pipe: %w", err)
		}
		p.output = r
		theirs.add(w)
		// Without the privilege or the quota the pipe stays small, and still works.
		_ = control(r, func(fd int) error {
			_, err := unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize)
			return err
		})
		return w, nil
	}
	master, slave, err := openPTY()
	if err != nil {
		return nil, fmt.Errorf("open a PTY: %w: mount devpts, or ask for a pipe", err)
	}
	p.output = master
	theirs.add(slave)
	return slave, nil
}

func (p *process) openStdin(kind protocol.Stdin, theirs *files) (*os.File, error) {
	if kind == protocol.StdinPipe {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("open a stdin pipe: %w", err)
		}
		p.stdin = w
		theirs.add(r)
		return r, nil
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("open an empty stdin: %w", err)
	}
	theirs.add(null)
	return null, nil
}

// close gives up what a failed start had opened.
func (p *process) close() {
	for _, f := range []*os.File{p.output, p.stdin, p.pidfd} {
		if f != nil {
			f.Close()
		}
	}
}

// control runs f on the descriptor without taking the file out of the poller, as Fd would.
func control(file *os.File, f func(fd int) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// files are descriptors that only the child keeps.
type files []*os.File

func (f *files) add(file *os.File) { *f = append(*f, file) }

func (f *files) close() {
	for _, file := range *f {
		file.Close()
	}
}
