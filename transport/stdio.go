// This file is the agent's side of a stdio: connection.

package transport

import (
	"io"
	"sync"
)

// Stdio returns this process's standard input and output as a connection, for
// [Server]. On Linux it takes them over: afterwards descriptor 0 is /dev/null
// and 1 is standard error, so that neither a stray print nor a child can
// disturb the connection. Call it once, before starting anything.
func Stdio() io.ReadWriteCloser {
	in, out := takeStdio()
	return &stdio{in: in, out: out}
}

// stdio joins two files to a connection.
type stdio struct {
	in, out io.ReadWriteCloser
	once    sync.Once
}

func (s *stdio) Read(b []byte) (int, error)  { return s.in.Read(b) }
func (s *stdio) Write(b []byte) (int, error) { return s.out.Write(b) }

// Close closes both. It is idempotent.
func (s *stdio) Close() error {
	s.once.Do(func() {
		s.out.Close()
		s.in.Close()
	})
	return nil
}
