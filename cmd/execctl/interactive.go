package main

// This file joins execctl's own terminal to a command's.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/internal/status"
)

// patience is how long a command that was to be ended may take to tell its result.
const patience = 15 * time.Second

// joint is a terminal at each end.
type joint struct {
	local    *local
	remote   *client.Terminal
	keys     []byte // that detach
	first    string // shown before anything else
	attached bool   // the command is somebody's: the end of execctl is not its end
	embedded bool   // its agent ends with execctl, so nothing can be detached from

	detached atomic.Bool
}

// join shows the remote terminal on the local one until the command ends or somebody detaches,
// and returns its exit code.
func (j *joint) join(ctx context.Context) (code int, err error) {
	if err := j.local.makeRaw(); err != nil {
		return 0, fmt.Errorf("raw mode: %w", err)
	}
	defer j.local.restore()
	defer context.AfterFunc(ctx, j.interrupted)()
	stop := make(chan struct{})
	defer close(stop)
	j.local.spawn(func() { j.watchSignals(stop) })
	j.local.spawn(j.typeIn) // ends with the process: a read of our own stdin cannot be interrupted
	err = j.show()
	switch {
	case j.detached.Load() && j.embedded:
		return 0, errors.New("the terminal was closed: the command ends with its agent, which is execctl's own")
	case j.detached.Load():
		j.local.leaveScreen()
		j.local.restore()
		fmt.Fprintf(os.Stderr, "execctl: detached: %s goes on; execctl attach %[1]s comes back\n", j.remote.ID())
		return 0, nil
	case err != nil:
		return 0, err
	}
	result, err := j.remote.Wait()
	if err != nil {
		return 0, err
	}
	j.local.restore()
	explain(os.Stderr, result)
	return result.ExitCode, nil
}

// news shows how the connection is doing, and has the program draw its screen again when it is
// there again.
func (j *joint) news(s client.Status) {
	printStatus(j.local.out, s, "\r\n")
	if s.State == client.Connected {
		j.local.spawn(func() { // a Conn's callback must not wait for its replies
			j.resize(1)
			j.resize(0)
		})
	}
}

// interrupted is told that execctl is to end: a command of its own is being canceled, and
// should tell its result.
func (j *joint) interrupted() {
	if j.attached {
		j.detach()
		return
	}
	time.AfterFunc(patience, func() { j.remote.Close() })
}

// show writes the output as it comes.
func (j *joint) show() error {
	if _, err := io.WriteString(j.local.out, j.first); err != nil {
		return j.broken(err)
	}
	for c, err := range j.remote.Chunks() {
		if err != nil {
			return err
		}
		if c.Missed > 0 { // CAN ends a sequence whose rest is missing
			_, err = fmt.Fprintf(j.local.out, "\x18\r\n\x1b[m[%s missing here]\r\n", status.Size(float64(c.Missed)))
		} else {
			_, err = j.local.out.Write(c.Data)
		}
		if err != nil {
			return j.broken(err)
		}
	}
	return nil
}

// broken ends the following when nothing can be shown any more: because the terminal was
// closed, or else a command of our own is ended, for nobody would see the rest.
func (j *joint) broken(err error) error {
	if j.local.sized == j.local.out {
		j.detach()
	} else if !j.attached {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = j.remote.Cancel(ctx)
	}
	return fmt.Errorf("writing the output: %w", err)
}

// typeIn passes on what is typed, until the end of the input or the keys that detach.
func (j *joint) typeIn() {
	detector := detector{keys: j.keys}
	p := make([]byte, 32<<10)
	for {
		n, err := j.local.in.Read(p)
		input, found := detector.next(p[:n])
		if len(input) > 0 {
			if _, err := j.remote.Stdin().Write(input); err != nil {
				return // the result says why
			}
		}
		if found {
			j.detach()
			return
		}
		if err != nil {
			if !j.local.keys { // else the terminal is gone, and SIGHUP says so
				_ = j.remote.Stdin().Close()
			}
			return
		}
	}
}

// watchSignals passes on the terminal's size, and detaches when the terminal is closed.
func (j *joint) watchSignals(stop <-chan struct{}) {
	resized := make(chan os.Signal, 1)
	notifyResize(resized)
	defer signal.Stop(resized)
	if j.attached {
		j.resize(1) // programs draw their screen again when its size changes
	}
	j.resize(0)
	for {
		select {
		case <-resized:
			j.resize(0)
		case <-hangups:
			j.detach()
		case <-stop:
			return
		}
	}
}

// resize gives the remote terminal the local one's size, with so many more rows.
func (j *joint) resize(more int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if columns, rows, ok := j.local.size(); ok {
		_ = j.remote.Resize(ctx, columns, rows+more) // a size out of bounds keeps the old one
	}
}

// detach ends the following. The command goes on.
func (j *joint) detach() {
	j.detached.Store(true)
	j.remote.Close()
}
