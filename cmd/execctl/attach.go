package main

// This file follows a command that somebody started.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/spf13/pflag"
)

type attachFlags struct {
	place
	reconnect  time.Duration
	json       bool
	detachKeys string
}

func (f *attachFlags) set() *pflag.FlagSet {
	fs := quietFlags("execctl attach")
	fs.SetInterspersed(true)
	f.place.set(fs)
	reconnectFlag(fs, &f.reconnect)
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line: start, batch…, result")
	detachFlag(fs, &f.detachKeys)
	return fs
}

// attach follows a command to its end and returns its exit code. However attach itself ends,
// the command goes on.
func attach(ctx context.Context, args []string) (code int, err error) {
	var f attachFlags
	fs := f.set()
	if err := parseFlags(fs, args); err != nil {
		return 0, err
	}
	if fs.NArg() != 1 {
		return 0, errors.New("attach: give one ID; execctl ps lists them")
	}
	keys, err := parseKeys(f.detachKeys)
	if err != nil {
		return 0, err
	}
	n := newNews()
	conn, err := reach(ctx, "attach", fs, &f.place, client.Options{Reconnect: f.reconnect, OnStatus: n.tell})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	cmd, err := conn.Attach(ctx, fs.Arg(0))
	if err != nil {
		return 0, err
	}
	l := newLocal(os.Stdin, os.Stdout)
	if f.json || !cmd.Started().Interactive || l.sized == nil {
		return attachView(ctx, conn, n, cmd, f.json)
	}
	return attachTerminal(ctx, conn, n, cmd, l, keys)
}

// attachView follows by the view, as run does.
func attachView(ctx context.Context, conn *reached, n *news, cmd *client.Command, json bool) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer onHangup(cancel)()
	defer context.AfterFunc(ctx, func() { cmd.Close() })()
	code, err := follow(cmd, newReporter(json, conn, n, cmd), func() { cmd.Close() })
	if err != nil && ctx.Err() != nil {
		fmt.Fprintf(os.Stderr, "execctl: detached: %s goes on\n", cmd.ID())
		return 0, nil
	}
	return code, err
}

// attachTerminal follows raw, beginning with what the view has of the screen. What comes between
// the two is shown twice, rather than not at all.
func attachTerminal(ctx context.Context, conn *reached, n *news, cmd *client.Command, l *local, keys []byte) (int, error) {
	defer cmd.Close()
	remote, err := conn.AttachTerminal(ctx, cmd.ID())
	if err != nil {
		return 0, err
	}
	for _, err := range cmd.Batches() {
		if err != nil {
			return 0, err
		}
		break
	}
	j := joint{local: l, remote: remote, keys: keys, attached: true, first: lastScreen(cmd.View(), l)}
	n.to(j.news)
	cmd.Close()
	return j.join(ctx)
}

// lastScreen is as much of the view as fills the terminal.
func lastScreen(v client.View, l *local) string {
	_, rows, ok := l.size()
	if !ok {
		rows = fallbackRows
	}
	text := v.Text + v.Live
	end := ""
	if strings.HasSuffix(text, "\n") {
		end = "\r\n"
	}
	return strings.Join(lastLines(text, rows), "\r\n") + end
}

// reach connects to an agent that has to be there already.
func reach(ctx context.Context, verb string, fs *pflag.FlagSet, p *place, opts client.Options) (*reached, error) {
	if err := p.check(fs); err != nil {
		return nil, err
	}
	if p.own() {
		return nil, fmt.Errorf("%s: give --addr ADDRESS, or set EXECAGENT_ADDR: which agent is meant?", verb)
	}
	return p.dial(ctx, opts)
}
