// This file stands for listening where the agent does not run.

//go:build !linux

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
)

func checkServer(io.ReadWriteCloser) error { return nil }

func listenUnix(context.Context, string) (net.Listener, error) {
	return nil, fmt.Errorf("%w: the agent is for Linux: try it in one process with inproc:", errors.ErrUnsupported)
}
