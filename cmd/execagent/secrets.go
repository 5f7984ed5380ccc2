//go:build linux

package main

// This file is what the agent is told of secrets: the token, certificates, and where from.

import (
	"errors"
	"fmt"
	"os"

	"github.com/execagent/execagent/transport"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// secretFlags are the flags about who may connect, and over what.
type secretFlags struct {
	tokenFile   string
	tokenFD     int
	tokenOnce   bool
	tls         transport.TLSFiles
	insecureTCP bool
}

func (f *secretFlags) set(fs *pflag.FlagSet) {
	fs.StringVar(&f.tokenFile, "token-file", "", "file with the token that clients prove to have, of mode 0600 (or EXECAGENT_TOKEN_FILE, EXECAGENT_TOKEN)")
	fs.IntVar(&f.tokenFD, "token-fd", -1, "inherited descriptor to read the token from, such as: --token-fd 3 3<FILE")
	fs.BoolVar(&f.tokenOnce, "token-once", false, "delete the file of --token-file once it is read")
	fs.StringVar(&f.tls.Cert, "tls-cert", "", "PEM file with our certificate")
	fs.StringVar(&f.tls.Key, "tls-key", "", "PEM file with its private key")
	fs.StringVar(&f.tls.CA, "tls-ca", "", "PEM file with the authorities of the other side's certificates; serving, it makes clients show one")
	fs.StringVar(&f.tls.ServerName, "tls-server-name", "", "connect: the name in the client's certificate (default: the address's host)")
	fs.BoolVar(&f.insecureTCP, "insecure-tcp", false, "allow tcp: off the loopback interface, where others can read and change everything")
	fs.Lookup("token-fd").DefValue = "0" // shows none: -1 is no descriptor
}

// options reads what the flags name. Without a flag the token comes from the environment; no
// command inherits it from there.
func (f *secretFlags) options() (transport.Options, error) {
	token, err := f.token()
	if err != nil {
		return transport.Options{}, err
	}
	opts := transport.Options{Token: token, InsecureTCP: f.insecureTCP}
	if f.tls != (transport.TLSFiles{}) {
		opts.TLS, err = f.tls.Load()
	}
	if err == nil && !token.IsZero() {
		err = hideMemory()
	}
	return opts, err
}

func (f *secretFlags) token() (transport.Token, error) {
	switch {
	case f.tokenFile != "" && f.tokenFD >= 0:
		return transport.Token{}, &usageError{"give the token by --token-file or by --token-fd, not by both"}
	case f.tokenOnce && f.tokenFile == "":
		return transport.Token{}, &usageError{"--token-once is about --token-file, which is missing"}
	case f.tokenFD >= 0:
		return readTokenFD(f.tokenFD)
	case f.tokenFile == "":
		return transport.TokenFromEnvironment()
	}
	token, err := transport.ReadTokenFile(f.tokenFile)
	if err == nil && f.tokenOnce {
		err = removeToken(f.tokenFile)
	}
	return token, err
}

// removeToken deletes the token's file, not merely a link to it.
func removeToken(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() != 0 {
		err = fmt.Errorf("%q is no regular file, and deleting it would leave the token: give the file itself", path)
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return fmt.Errorf("--token-once: %w", err)
	}
	return nil
}

// readTokenFD reads the descriptor to its end and closes it.
func readTokenFD(fd int) (transport.Token, error) {
	if fd < 3 {
		return transport.Token{}, &usageError{fmt.Sprintf("--token-fd %d: give a descriptor from 3 on: 0, 1 and 2 have their uses", fd)}
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
		return transport.Token{}, fmt.Errorf("--token-fd %d: %w: redirect it, such as: %[1]d<FILE", fd, err)
	}
	file := os.NewFile(uintptr(fd), "the token's descriptor")
	token, err := transport.ReadToken(file)
	return token, errors.Join(err, file.Close())
}

// hideMemory keeps commands of the same user from reading the token out of this process: by
// ptrace, /proc/PID/mem, /proc/PID/environ or a core file. The CAP_SYS_PTRACE capability still can.
func hideMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hiding the token from commands: %w", err)
	}
	return nil
}
