// This file takes the listening sockets that a service manager started us with: the protocol
// of sd_listen_fds(3).

package transport

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// firstInherited is SD_LISTEN_FDS_START.
const firstInherited = 3

// inheritedSockets returns how many sockets this process was started with, and removes the
// variables that say so: they are not for its children.
var inheritedSockets = sync.OnceValue(func() int {
	pid, _ := strconv.Atoi(os.Getenv("LISTEN_PID"))
	n, _ := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(name)
	}
	if pid != os.Getpid() {
		return 0
	}
	return n
})

// inheritSocket returns an inherited socket and the scheme it counts as.
func inheritSocket(a Address, opts Options) (l net.Listener, kind string, err error) {
	which, err := a.inherited()
	if err != nil {
		return nil, "", err
	}
	if n := inheritedSockets(); which >= n {
		return nil, "", fmt.Errorf("this process was started with %d listening sockets (LISTEN_PID, LISTEN_FDS): start it from a socket unit", n)
	}
	unix.CloseOnExec(firstInherited + which)
	f := os.NewFile(uintptr(firstInherited+which), "inherited socket")
	l, err = net.FileListener(f) // a copy
	f.Close()
	if err != nil {
		return nil, "", fmt.Errorf("inherited socket %d: %w", which, opCause(err))
	}
	kind, err = adopt(l, opts)
	if err != nil {
		l.Close()
		return nil, "", err
	}
	if ul, ok := l.(*net.UnixListener); ok {
		ul.SetUnlinkOnClose(false) // the service manager's
		l = &unixListener{UnixListener: ul}
	}
	return l, kind, nil
}

// adopt holds an inherited socket to the same rules as one of our own.
func adopt(l net.Listener, opts Options) (kind string, err error) {
	switch addr := l.Addr().(type) {
	case *net.UnixAddr:
		return SchemeUnix, nil
	case *net.TCPAddr:
		err := opts.checkServing(SchemeTCP)
		if err == nil && !opts.InsecureTCP {
			err = onlyLoopback("", addr.String(), nil)
		}
		return SchemeTCP, err
	}
	return "", errors.New("the inherited socket is neither a unix nor a TCP one")
}
