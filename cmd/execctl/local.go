package main

// This file is the terminal that execctl itself runs on.

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// local is execctl's own terminal, in raw mode from makeRaw until restore. Without a terminal
// it is two files, and raw mode means nothing.
type local struct {
	in, out *os.File
	keys    bool // in is a terminal
	sized   *os.File

	once  sync.Once
	saved *term.State // nil unless in raw mode
}

func newLocal(in, out *os.File) *local {
	l := &local{in: in, out: out, keys: term.IsTerminal(int(in.Fd()))}
	switch {
	case term.IsTerminal(int(out.Fd())):
		l.sized = out
	case l.keys:
		l.sized = in
	}
	return l
}

// size returns the size in characters; not ok when there is none.
func (l *local) size() (columns, rows int, ok bool) {
	if l.sized == nil {
		return 0, 0, false
	}
	columns, rows, err := term.GetSize(int(l.sized.Fd()))
	return columns, rows, err == nil && columns > 0 && rows > 0
}

// makeRaw has every key passed on, Ctrl-C too. Whoever calls it calls restore.
func (l *local) makeRaw() (err error) {
	if l.keys {
		l.saved, err = term.MakeRaw(int(l.in.Fd()))
	}
	return err
}

// restore brings back the mode from before. It may be called more than once, from anywhere.
func (l *local) restore() {
	l.once.Do(func() {
		if l.saved != nil {
			_ = term.Restore(int(l.in.Fd()), l.saved) // nobody could be told on this terminal
		}
	})
}

// spawn runs f in a goroutine. If that panics the terminal is restored first, so that the
// trace can be read and the shell used.
func (l *local) spawn(f func()) {
	go func() {
		defer func() {
			if p := recover(); p != nil {
				l.restore()
				panic(p)
			}
		}()
		f()
	}()
}

// leaveScreen undoes what a program left behind in the middle may have done to the screen: its
// alternate page, colours, hidden cursor, mouse and paste reports.
const leaveScreen = "\x18\x1b[?1049l\x1b[m\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l"

func (l *local) leaveScreen() {
	if l.sized == l.out && l.sized != nil {
		_, _ = io.WriteString(l.out, leaveScreen)
	}
}
