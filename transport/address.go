// This file reads and prints addresses: where an agent is to be found.

package transport

import (
	"fmt"
	"strings"
)

// Schemes of an [Address].
const (
	SchemeUnix   = "unix"   // unix:PATH, a socket in the file system
	SchemeInproc = "inproc" // inproc:, an agent in this process
	SchemeStdio  = "stdio"  // stdio:, or stdio:PROGRAM ARG... for a client
)

const supported = "supported are unix:PATH, stdio:, stdio:PROGRAM ARG... and inproc:"

// Address names one place where an agent listens. Its zero value is not valid;
// [ParseAddress] makes valid ones.
type Address struct {
	Scheme string // one of the Scheme constants
	Target string // the part behind the colon: a path, a command line, or empty
}

// String returns the form that [ParseAddress] reads.
func (a Address) String() string { return a.Scheme + ":" + a.Target }

// ParseAddress reads SCHEME:TARGET. The error is an [*AddressError].
//
// A unix target is a path, relative to the working directory unless it begins
// with a slash. Abstract sockets (a leading @) are refused because they have no
// permissions. A stdio target is a program and its arguments split on spaces,
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
func (a Address) check() error {
	switch a.Scheme {
	case SchemeUnix:
		return checkSocketPath(a.Target)
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
	case "tcp", "tls", "vsock":
		return fmt.Errorf("%w: %q is planned and not built yet; %s", ErrUnsupportedScheme, a.Scheme, supported)
	}
	return fmt.Errorf("%w %q: %s", ErrUnknownScheme, a.Scheme, supported)
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
