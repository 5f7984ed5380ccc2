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
		{in: "tcp:localhost:1", is: ErrUnsupportedScheme, says: "supported are unix:PATH"},
		{in: "tls:localhost:1", is: ErrUnsupportedScheme, says: `"tls"`},
		{in: "vsock:2:1", is: ErrUnsupportedScheme, says: `"vsock"`},
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
	conn, err := DialConn(context.Background(), a)
	if err == nil {
		conn.Close()
	}
	return err
}

func listenError(a Address) error {
	l, err := Listen(context.Background(), a)
	if err == nil {
		l.Close()
	}
	return err
}
