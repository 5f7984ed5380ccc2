// This file takes standard input and output as they are where the agent does
// not run.

//go:build !linux

package transport

import "os"

func takeStdio() (in, out *os.File) { return os.Stdin, os.Stdout }
