// This file takes standard input and output as they are where the agent does
// not run.

//go:build !linux

package transport

import (
	"io"
	"os"
)

func takeStdio() (in, out io.ReadWriteCloser) { return os.Stdin, os.Stdout }
