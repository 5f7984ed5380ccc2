// This file stands for inherited sockets where the agent does not run.

//go:build !linux

package transport

import (
	"errors"
	"fmt"
	"net"
)

func inheritSocket(Address, Options) (net.Listener, string, error) {
	return nil, "", fmt.Errorf("%w: inherited sockets are for Linux", errors.ErrUnsupported)
}
