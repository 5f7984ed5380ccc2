//go:build linux

package execagent

// This file is where output comes from: the agent's end of a PTY or of a pipe, in the runtime's
// poller or out of it.

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// source is a nonblocking descriptor that one pump reads.
//
// While the pump waits, the runtime's poller has the descriptor. While output floods it is taken
// out: the poller asks the kernel to tell of whatever comes, so every write of the command would
// wake a thread that finds nothing to do and keeps a processor from the command.
type source struct {
	shared bool // stdin writes the same file, so it stays in the poller

	mu     sync.Mutex // guards changes of the rest; only the pump moves the descriptor
	file   *os.File   // nil while the descriptor is out of the poller
	fd     int        // the descriptor out of the poller, or -1
	closed bool
}

// newSource takes over a file that is in the poller.
func newSource(file *os.File) *source { return &source{file: file, fd: -1} }

// read has the poller call f whenever there may be something to read, until f returns true.
func (s *source) read(f func(fd uintptr) bool) error {
	conn, err := s.file.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(f)
}

// control runs f on the descriptor, for those who are not the pump.
func (s *source) control(f func(fd int) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.use(f)
}

// use is control for the pump.
func (s *source) use(f func(fd int) error) error {
	switch {
	case s.file != nil:
		return control(s.file, f)
	case s.fd < 0:
		return os.ErrClosed
	}
	return f(s.fd)
}

// leavePoller takes the descriptor out of the poller, if it can.
func (s *source) leavePoller() {
	if s.file == nil || s.shared {
		return
	}
	var fd int
	err := control(s.file, func(old int) (err error) {
		fd, err = duplicate(old)
		return err
	})
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file.Close()
	s.file, s.fd = nil, fd
}

// enterPoller has the descriptor in the poller. It fails when there is no descriptor to be had.
func (s *source) enterPoller() error {
	if s.file != nil {
		return nil
	}
	fd, err := duplicate(s.fd)
	if err != nil {
		return fmt.Errorf("duplicate the output's descriptor: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	unix.Close(s.fd)
	s.file, s.fd = os.NewFile(uintptr(fd), "output"), -1
	if s.closed {
		s.file.Close()
	}
	return nil
}

// over reports whether close was called.
func (s *source) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// close ends the reading: at once in the poller, and when the pump asks whether it is over
// outside of it.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.file != nil {
		s.file.Close()
	}
}

// release gives the descriptor up. The pump calls it last.
func (s *source) release() {
	s.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}

// duplicate returns another descriptor of the same open file, which no command inherits.
func duplicate(fd int) (int, error) {
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
}
