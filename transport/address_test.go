// This file holds the tests of addresses.

package transport

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Address
		is   error  // the error's cause, if a particular one
		says string // in the error; empty for success
	}{
		{in: "unix:/run/x.sock", want: Address{"unix", "/run/x.sock"}},
		{in: "unix:rel/x:y", want: Address{"unix", "rel/x:y"}},
		{in: "inproc:", want: Address{"inproc", ""}},
		{in: "stdio:", want: Address{"stdio", ""}},
		{in: "stdio:ssh -T host  agent", want: Address{"stdio", "ssh -T host  agent"}},
		{in: "", says: "no scheme"},
		{in: "/run/x.sock", says: "write unix:/run/x.sock"},
		{in: "unix:", says: "no path"},
		{in: "unix:@abstract", says: "./@abstract"},
		{in: "unix:a\x00b", says: "NUL"},
		{in: "unix:/" + strings.Repeat("p", maxSocketPath), says: "use a shorter one"},
		{in: "unix:/" + strings.Repeat("p", maxSocketPath-1), want: Address{"unix", "/" + strings.Repeat("p", maxSocketPath-1)}},
		{in: "inproc:x", says: "takes no target"},
		{in: "stdio:a\x00b", says: "NUL"},
		{in: "tcp:localhost:1", want: Address{"tcp", "localhost:1"}},
		{in: "tcp::7777", want: Address{"tcp", ":7777"}},
		{in: "tls:[::1]:65535", want: Address{"tls", "[::1]:65535"}},
		{in: "tcp:localhost", says: "write tcp:HOST:PORT"},
		{in: "tls:", says: "write tls:HOST:PORT"},
		{in: "tcp:::1:7", says: "tcp:[::1]:7777"},
		{in: "tcp:h:http", says: `port "http"`},
		{in: "tcp:h:65536", says: "0 to 65535"},
		{in: "tcp:h:-1", says: "0 to 65535"},
		{in: "tcp:a\x00b:1", says: "NUL"},
		{in: "vsock:3:7777", want: Address{"vsock", "3:7777"}},
		{in: "vsock:any:4294967295", want: Address{"vsock", "any:4294967295"}},
		{in: "vsock:3", says: "write vsock:CID:PORT"},
		{in: "vsock:3:4294967296", says: "write vsock:CID:PORT"},
		{in: "vsock:host:1", says: "vsock:2:PORT for the host"},
		{in: "systemd:", want: Address{"systemd", ""}},
		{in: "systemd:2", want: Address{"systemd", "2"}},
		{in: "systemd:x", says: "which inherited socket"},
		{in: "systemd:256", says: "which inherited socket"},
		{in: "http://x", is: ErrUnknownScheme, says: "supported are unix:PATH"},
		{in: "UNIX:/x", is: ErrUnknownScheme, says: `"UNIX"`},
	} {
		got, err := ParseAddress(c.in)
		if c.says == "" {
			if err != nil || got != c.want || got.String() != c.in {
				t.Errorf("ParseAddress(%q) = %+v, %v; want %+v", c.in, got, err, c.want)
			}
			continue
		}
		var bad *AddressError
		if !errors.As(err, &bad) || bad.Address != c.in || !strings.Contains(err.Error(), c.says) {
			t.Errorf("ParseAddress(%q): error %v, want an *AddressError that says %q", c.in, err, c.says)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("ParseAddress(%q): error %v is not %v", c.in, err, c.is)
		}
	}
}

func TestAddressesThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		addr Address
		use  func(Address) error
		is   error
	}{
		{Address{}, dialError, ErrUnknownScheme},
		{Address{"inproc", ""}, dialError, ErrUnsupportedScheme},
		{Address{"stdio", " "}, dialError, nil},
		{Address{"unix", ""}, dialError, nil},
		{Address{"systemd", ""}, dialError, ErrUnsupportedScheme},
		{Address{"vsock", "any:1"}, dialError, nil},
		{Address{"inproc", ""}, listenError, ErrUnsupportedScheme},
		{Address{"stdio", ""}, listenError, ErrUnsupportedScheme},
		{Address{"unix", "@x"}, listenError, nil},
	} {
		err := c.use(c.addr)
		var bad *AddressError
		if !errors.As(err, &bad) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%+v: error %v, want an *AddressError of %v", c.addr, err, c.is)
		}
	}
}

func dialError(a Address) error {
	conn, err := DialConn(context.Background(), a, Options{})
	if err == nil {
		conn.Close()
	}
	return err
}

func listenError(a Address) error {
	l, err := Listen(context.Background(), a, Options{})
	if err == nil {
		l.Close()
	}
	return err
}
