// This file reads and prints addresses: where an agent is to be found.

package transport

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
)

// Schemes of an [Address].
const (
	SchemeUnix    = "unix"    // unix:PATH, a socket in the file system
	SchemeTCP     = "tcp"     // tcp:HOST:PORT, in the clear: loopback unless asked for
	SchemeTLS     = "tls"     // tls:HOST:PORT, TLS 1.3
	SchemeVsock   = "vsock"   // vsock:CID:PORT, between a virtual machine and its host
	SchemeSystemd = "systemd" // systemd:, a listening socket that we were started with
	SchemeInproc  = "inproc"  // inproc:, an agent in this process
	SchemeStdio   = "stdio"   // stdio:, or stdio:PROGRAM ARG... for a client
)

const supported = "supported are unix:PATH, tcp:HOST:PORT, tls:HOST:PORT, vsock:CID:PORT, stdio:, stdio:PROGRAM ARG..., systemd: and inproc:"

// Address names one place where an agent or, for an agent that dials out, a client
// listens. Its zero value is not valid; [ParseAddress] makes valid ones.
type Address struct {
	Scheme string // one of the Scheme constants
	Target string // the part behind the colon: a path, host and port, a command line, or empty
}

// String returns the form that [ParseAddress] reads.
func (a Address) String() string { return a.Scheme + ":" + a.Target }

// ParseAddress reads SCHEME:TARGET. The error is an [*AddressError].
//
// A unix target is a path, relative to the working directory unless it begins
// with a slash. Abstract sockets (a leading @) are refused because they have no
// permissions. A tcp or tls target is a host and a port, 0 to 65535, 0 meaning any free one to a
// listener; an IPv6 address stands in brackets. A vsock target is a context ID, or "any" for
// a listener, and a port, both of 32 bits. A systemd target is empty or which of the inherited
// sockets, from 0. A stdio target is a program and its arguments split on spaces,
// with no quoting; an argument that contains a space needs a wrapper script.
func ParseAddress(s string) (Address, error) {
	scheme, target, found := strings.Cut(s, ":")
	a := Address{Scheme: scheme, Target: target}
	if !found {
		return Address{}, &AddressError{s, fmt.Errorf("has no scheme: write unix:%s for a socket; %s", s, supported)}
	}
	if err := a.check(); err != nil {
		return Address{}, &AddressError{s, err}
	}
	return a, nil
}

// check says what is wrong with an address, also with one made by hand.
func (a Address) check() (err error) {
	switch a.Scheme {
	case SchemeUnix:
		return checkSocketPath(a.Target)
	case SchemeTCP, SchemeTLS:
		return a.checkHostPort()
	case SchemeVsock:
		_, _, err = a.vsock()
		return err
	case SchemeSystemd:
		_, err = a.inherited()
		return err
	case SchemeInproc:
		if a.Target != "" {
			return fmt.Errorf("%q after the colon: inproc: takes no target", a.Target)
		}
		return nil
	case SchemeStdio:
		if strings.IndexByte(a.Target, 0) >= 0 {
			return fmt.Errorf("NUL byte in the command line")
		}
		return nil
	}
	return fmt.Errorf("%w %q: %s", ErrUnknownScheme, a.Scheme, supported)
}

// checkHostPort refuses a port by name: it would be looked up in a file of the machine.
func (a Address) checkHostPort() error {
	host, port, err := net.SplitHostPort(a.Target)
	if err != nil {
		return fmt.Errorf("%[1]q is no host and port: write %[2]s:HOST:PORT, such as %[2]s:127.0.0.1:7777 or %[2]s:[::1]:7777", a.Target, a.Scheme)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("port %q: give a number from 0 to 65535", port)
	}
	if strings.IndexByte(host, 0) >= 0 {
		return errors.New("NUL byte in the host")
	}
	return nil
}

// anyCID is VMADDR_CID_ANY of vsock(7).
const anyCID = math.MaxUint32

// vsock returns the two numbers of a vsock address.
func (a Address) vsock() (cid, port uint32, err error) {
	cidText, portText, _ := strings.Cut(a.Target, ":")
	c, cidErr := strconv.ParseUint(cidText, 10, 32)
	if cidText == "any" {
		c, cidErr = anyCID, nil
	}
	p, portErr := strconv.ParseUint(portText, 10, 32)
	if cidErr != nil || portErr != nil {
		return 0, 0, fmt.Errorf("%q is no context ID and port: write vsock:CID:PORT, such as vsock:3:7777, with vsock:any:PORT to listen and vsock:2:PORT for the host", a.Target)
	}
	return uint32(c), uint32(p), nil
}

// inherited returns which inherited socket is meant.
func (a Address) inherited() (int, error) {
	if a.Target == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(a.Target, 10, 8)
	if err != nil {
		return 0, fmt.Errorf("%q after the colon: give which inherited socket, from 0, or nothing for the first", a.Target)
	}
	return int(n), nil
}

// checkSocketPath refuses what bind and connect would misread or cut.
func checkSocketPath(path string) error {
	switch {
	case path == "":
		return fmt.Errorf("no path: write unix:/path/to/socket")
	case path[0] == '@':
		return fmt.Errorf("abstract sockets have no permissions: use a path, or ./%s", path)
	case strings.IndexByte(path, 0) >= 0:
		return fmt.Errorf("NUL byte in the path")
	case len(path) > maxSocketPath:
		return fmt.Errorf("path of %d bytes is over the system's limit of %d for a socket: use a shorter one", len(path), maxSocketPath)
	}
	return nil
}
