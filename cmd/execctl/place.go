package main

// This file is where the agent is: what every command of execctl may be told of the way there.

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/internal/version"
	"github.com/execagent/execagent/transport"
	"github.com/spf13/pflag"
)

// place is an agent's address, or ours that an agent dials, and what it takes to be let in.
type place struct {
	addr        string
	accept      string
	tokenFile   string
	tls         transport.TLSFiles
	insecureTCP bool
}

func (p *place) set(fs *pflag.FlagSet) {
	fs.StringVar(&p.addr, "addr", os.Getenv("EXECAGENT_ADDR"), "address of the agent, such as unix:/run/execagent.sock or tls:HOST:PORT")
	fs.StringVar(&p.accept, "accept", "", "instead of --addr: address to listen on for an agent that dials, by execagent connect")
	fs.StringVar(&p.tokenFile, "token-file", "", "file with the agent's token, of mode 0600 (or EXECAGENT_TOKEN_FILE, EXECAGENT_TOKEN)")
	fs.StringVar(&p.tls.CA, "tls-ca", "", "PEM file with the authorities of the agent's certificate (default: the system's)")
	fs.StringVar(&p.tls.ServerName, "tls-server-name", "", "the name in the agent's certificate (default: the address's host)")
	fs.StringVar(&p.tls.Cert, "tls-cert", "", "PEM file with our certificate")
	fs.StringVar(&p.tls.Key, "tls-key", "", "PEM file with its private key")
	fs.BoolVar(&p.insecureTCP, "insecure-tcp", false, "allow tcp: off the loopback interface, where others can read and change everything")
	fs.Lookup("addr").DefValue = "" // it may come from the environment
}

// own reports whether execctl is to be its own agent.
func (p *place) own() bool { return p.addr == "" && p.accept == "" }

func software() string { return "execctl " + version.String() }

// options adds to opts what the flags name.
func (p *place) options(opts client.Options) (client.Options, error) {
	opts.Software, opts.InsecureTCP = software(), p.insecureTCP
	var err error
	if opts.Token, err = p.token(); err != nil {
		return opts, err
	}
	if p.tls != (transport.TLSFiles{}) {
		opts.TLS, err = p.tls.Load()
	}
	return opts, err
}

func (p *place) token() (transport.Token, error) {
	if p.tokenFile != "" {
		return transport.ReadTokenFile(p.tokenFile)
	}
	return transport.TokenFromEnvironment()
}

// reached is a connection to an agent, with where that dials again if it did.
type reached struct {
	*client.Conn
	listener *client.Listener // nil when it was dialed
}

func (r *reached) Close() error {
	err := r.Conn.Close()
	if r.listener != nil {
		err = errors.Join(err, r.listener.Close())
	}
	return err
}

// dial connects to an agent that is there already, or waits for one that dials.
func (p *place) dial(ctx context.Context, opts client.Options) (*reached, error) {
	opts, err := p.options(opts)
	if err != nil {
		return nil, err
	}
	if p.accept == "" {
		conn, err := client.Dial(ctx, p.addr, opts)
		if err != nil {
			return nil, err
		}
		return &reached{Conn: conn}, nil
	}
	l, err := client.Listen(ctx, p.accept, opts)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "execctl: waiting for an agent at %s\n", l.Address())
	conn, err := l.AcceptOnly(ctx)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &reached{conn, l}, nil
}

// check refuses what does not go together. An address that is only in the environment does not
// count beside --accept.
func (p *place) check(fs *pflag.FlagSet) error {
	if p.accept == "" {
		return nil
	}
	if fs.Changed("addr") {
		return errors.New("give --addr or --accept, not both: does execctl dial the agent, or the agent execctl?")
	}
	p.addr = ""
	return nil
}
