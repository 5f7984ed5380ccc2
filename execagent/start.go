//go:build linux

package execagent

// This file is step 0, a spec to a running process: PTY or pipe, its own session, the program.

import (
	"fmt"
	"os"
	"syscall"

	"github.com/execagent/execagent/execagent/proctree"
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
	path   string   // the shell, or the program
	output *source  // the PTY master or the pipe's read end
	pipe   bool     // the latter
	stderr *source  // the read end of a pipe for stderr alone, or nil
	stdin  *os.File // what writes the command's stdin: a pipe's end, the PTY master, or nil
}

// startProcess runs the spec's command in a session of its own.
//
// Unless it is interactive the PTY is not its controlling terminal: opening /dev/tty to ask
// for a password fails at once instead of waiting for somebody, and no hangup follows the
// shell's exit.
func startProcess(spec *protocol.Spec, tree *proctree.Tree, spare *ptySpare) (_ *process, err error) {
	dir, err := checkDir(spec.Cwd)
	if err != nil {
		return nil, err
	}
	env := environment(spec, dir)
	p := &process{}
	path, argv, err := program(spec, dir, env)
	if err != nil {
		return nil, err
	}
	p.path = path
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	var theirs childFiles
	defer theirs.close()
	if err := p.open(spec, &theirs, spare); err != nil {
		return nil, err
	}
	if err := theirs.own(spec.User); err != nil {
		return nil, err
	}
	pidfd := -1
	attr := &syscall.ProcAttr{
		Dir: dir,
		// Fd makes the child's ends blocking, as a command expects them.
		Files: []uintptr{theirs.stdin.Fd(), theirs.stdout.Fd(), theirs.stderr.Fd()},
		Sys: &syscall.SysProcAttr{
			Setsid:  true,
			Setctty: spec.Interactive,
			Ctty:    0,
			PidFD:   &pidfd,
		},
	}
	attr.Env = tree.Configure(attr.Sys, env)
	if u := spec.User; u != nil {
		attr.Sys.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
	}
	p.pid, err = forkExec(path, argv, attr, spec.Rlimits)
	if err != nil {
		return nil, startError(path, spec, dir, err)
	}
	p.pidfd = pollable(pidfd)
	return p, nil
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

// childFiles are the command's ends, which only the child keeps.
type childFiles struct{ stdin, stdout, stderr *os.File }

// own gives the command's ends to its user, who could not open them by name otherwise
// (/dev/stderr, /dev/tty).
func (c *childFiles) own(u *protocol.User) error {
	if u == nil {
		return nil
	}
	for _, f := range []*os.File{c.stdin, c.stdout, c.stderr} {
		if f.Name() == os.DevNull {
			continue
		}
		if err := control(f, func(fd int) error { return unix.Fchown(fd, int(u.UID), -1) }); err != nil {
			return fmt.Errorf("give the command's files to user %d: %w", u.UID, err)
		}
	}
	return nil
}

func (c *childFiles) close() {
	for _, f := range []*os.File{c.stdin, c.stdout, c.stderr} {
		if f != nil {
			f.Close() // twice for a shared one, which is harmless
		}
	}
}

// open makes the command's PTY or pipes.
func (p *process) open(spec *protocol.Spec, theirs *childFiles, spare *ptySpare) error {
	if err := p.openOutput(spec, theirs, spare); err != nil {
		return err
	}
	if spec.Interactive {
		p.output.shared = true
		p.stdin, theirs.stdin = p.output.file, theirs.stdout
		return nil
	}
	var err error
	if spec.Stdin == protocol.StdinNone {
		theirs.stdin, err = os.Open(os.DevNull)
	} else {
		theirs.stdin, p.stdin, err = os.Pipe()
	}
	if err != nil {
		return fmt.Errorf("open stdin: %w", err)
	}
	return nil
}

func (p *process) openOutput(spec *protocol.Spec, theirs *childFiles, spare *ptySpare) (err error) {
	if !spec.Pipe {
		ours, slave, err := spare.open(spec)
		if err != nil {
			return fmt.Errorf("open a PTY: %w: mount devpts, or ask for a pipe", err)
		}
		p.output, theirs.stdout, theirs.stderr = newSource(ours), slave, slave
		return nil
	}
	p.pipe = true
	if p.output, theirs.stdout, err = outputPipe(); err != nil {
		return err
	}
	theirs.stderr = theirs.stdout
	if spec.SplitStderr {
		p.stderr, theirs.stderr, err = outputPipe()
	}
	return err
}

func outputPipe() (ours *source, theirs *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("open an output pipe: %w", err)
	}
	// Without the privilege or the quota the pipe stays small, and still works.
	_ = control(r, func(fd int) error {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize)
		return err
	})
	return newSource(r), w, nil
}

// resize changes the PTY's size; the kernel tells the foreground processes by SIGWINCH.
func (p *process) resize(columns, rows int) error {
	return p.output.control(func(fd int) error { return setSize(fd, columns, rows) })
}

// close gives up what a failed start had opened.
func (p *process) close() {
	for _, s := range []*source{p.output, p.stderr} {
		if s != nil {
			s.close()
		}
	}
	for _, f := range []*os.File{p.stdin, p.pidfd} {
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
