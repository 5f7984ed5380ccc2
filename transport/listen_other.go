// This file stands for listening where the agent does not run.

//go:build !linux

package transport

import (
	"context"
	"errors"
	"net"
)

func listenUnix(context.Context, string) (net.Listener, error) {
	return nil, errors.New("the agent is for Linux: use inproc: to try it in one process")
}
