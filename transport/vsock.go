// This file dials and listens between a virtual machine and its host.

package transport

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/mdlayher/vsock"
)

func dialVsock(ctx context.Context, a Address) (net.Conn, error) {
	cid, port, err := a.vsock()
	if err == nil && cid == anyCID {
		err = errors.New(`"any" is for listening: give the context ID of the other side`)
	}
	if err != nil {
		return nil, &AddressError{a.String(), err}
	}
	conn, err := vsock.DialContext(ctx, cid, port, nil)
	if err != nil {
		return nil, &DialError{Address: a, Remedy: vsockRemedy, Err: opCause(err)}
	}
	return conn, nil
}

func listenVsock(a Address) (net.Listener, error) {
	cid, port, err := a.vsock()
	if err != nil {
		return nil, err
	}
	l, err := vsock.ListenContextID(cid, port, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", opCause(err), vsockRemedy)
	}
	return l, nil
}

const vsockRemedy = "is this a machine with a virtio-vsock device (/dev/vsock), is the context ID right, and does something listen there?"
