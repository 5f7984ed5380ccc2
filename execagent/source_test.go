//go:build linux

package execagent

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"unsafe"

	"github.com/execagent/execagent/transport/protocol"
	"golang.org/x/sys/unix"
)

// openSources are the agent's ends of a PTY and of a pipe, and the ends that a command has.
func openSources(t *testing.T) map[string]sourceEnds {
	t.Helper()
	master, slave, err := new(ptySpare).open(&protocol.Spec{Columns: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := outputPipe()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]sourceEnds{"pty": {newSource(master), slave}, "pipe": {r, w}}
	t.Cleanup(func() {
		for _, ends := range all {
			ends.ours.release()
			ends.theirs.Close()
		}
	})
	return all
}

type sourceEnds struct {
	ours   *source
	theirs *os.File
}

// descriptor is the present one of the source.
func (e sourceEnds) descriptor(t *testing.T) (fd int) {
	t.Helper()
	if err := e.ours.control(func(n int) error { fd = n; return nil }); err != nil {
		t.Fatal(err)
	}
	return fd
}

func isOpen(fd int) bool {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil
}

func inherited(t *testing.T, fd int) bool {
	t.Helper()
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.FD_CLOEXEC == 0
}

// TestSourceMoves: a source can be read and asked in and out of the poller, holds one descriptor
// at a time and none in the end.
func TestSourceMoves(t *testing.T) {
	for name, ends := range openSources(t) {
		t.Run(name, func(t *testing.T) {
			p := &pump{source: ends.ours, pipe: name == "pipe", out: &output{}}
			say := func(text string) {
				t.Helper()
				if _, err := ends.theirs.WriteString(text); err != nil {
					t.Fatal(err)
				}
			}
			expect := func(text string) {
				t.Helper()
				if got := string(p.buf[:p.n]); got != text {
					t.Errorf("read %q, want %q", got, text)
				}
				p.n = 0
			}
			var seen []int
			for range 3 {
				seen = append(seen, ends.descriptor(t))
				say("a")
				if err := p.await(); err != nil {
					t.Fatal(err)
				}
				expect("a")
				p.flood = true // and over at once: it began long ago
				say("b")
				if err := p.readFlood(); err != nil {
					t.Fatal(err)
				}
				expect("b")
				if p.flood || ends.ours.file != nil {
					t.Error("a flood that ended is one still, or was read in the poller")
				}
				seen = append(seen, ends.descriptor(t))
				if inherited(t, ends.descriptor(t)) {
					t.Error("a command would inherit the descriptor")
				}
				if !p.readsNothing(t) {
					t.Error("the descriptor blocks")
				}
				if ends.ours.enterPoller() != nil || ends.ours.file == nil {
					t.Error("cannot go back into the poller")
				}
			}
			ends.ours.release()
			slices.Sort(seen)
			for _, fd := range slices.Compact(seen) {
				if isOpen(fd) {
					t.Errorf("descriptor %d is open still", fd)
				}
			}
		})
	}
}

// readsNothing says that a read of an empty source returns.
func (p *pump) readsNothing(t *testing.T) bool {
	t.Helper()
	var err error
	if e := p.source.use(func(fd int) error { _, err = readNow(fd, make([]byte, 1)); return nil }); e != nil {
		t.Fatal(e)
	}
	return errors.Is(err, unix.EAGAIN)
}

// TestSourceClose: closing ends the reading wherever the descriptor is.
func TestSourceClose(t *testing.T) {
	for _, flood := range []bool{false, true} {
		for name, ends := range openSources(t) {
			out := &output{done: make(chan struct{}), pumps: 1}
			p := &pump{source: ends.ours, pipe: name == "pipe", out: out, ended: make(chan struct{}), flood: flood}
			if flood {
				ends.ours.leavePoller()
			}
			fd := ends.descriptor(t)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			p.run(ctx)
			<-out.done
			if isOpen(fd) {
				t.Errorf("%s: the descriptor is open after the end", name)
			}
			if ends.ours.control(func(int) error { return nil }) == nil {
				t.Errorf("%s: a source that was given up has a descriptor", name)
			}
		}
	}
}

// TestSourceShared: what stdin writes, too, stays in the poller while it floods.
func TestSourceShared(t *testing.T) {
	for name, ends := range openSources(t) {
		ends.ours.shared = true
		if ends.ours.leavePoller(); ends.ours.file == nil {
			t.Errorf("%s: left the poller", name)
		}
	}
}

// TestSourceWithoutDescriptors: when there is no descriptor to be had after a flood, what follows
// is read nevertheless, to the end.
func TestSourceWithoutDescriptors(t *testing.T) {
	ends := openSources(t)["pipe"]
	p := &pump{source: ends.ours, pipe: true, out: &output{}}
	ends.ours.leavePoller()
	limitDescriptors(t, 3)
	for _, text := range []string{"one", "two"} {
		if _, err := ends.theirs.WriteString(text); err != nil {
			t.Fatal(err)
		}
		for p.n = 0; p.n == 0; {
			if err := p.await(); err != nil {
				t.Fatal(err)
			}
		}
		if got := string(p.buf[:p.n]); got != text {
			t.Errorf("read %q, want %q", got, text)
		}
	}
	if ends.ours.file != nil {
		t.Error("there was a descriptor to be had")
	}
	ends.theirs.Close()
	for p.n = 0; p.err == nil; {
		if err := p.await(); err != nil {
			t.Fatal(err)
		}
	}
	if p.n != 0 || p.err != io.EOF {
		t.Errorf("%d bytes and %v at the end", p.n, p.err)
	}
	p.release()
}

// limitDescriptors lets this process open no descriptor from n on until the test ends. It does not
// go through the syscall package, which remembers limits for children.
func limitDescriptors(t *testing.T, n uint64) {
	t.Helper()
	set := func(limit, old *unix.Rlimit) {
		t.Helper()
		_, _, errno := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE,
			uintptr(unsafe.Pointer(limit)), uintptr(unsafe.Pointer(old)), 0, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
	}
	var old unix.Rlimit
	set(nil, &old)
	set(&unix.Rlimit{Cur: n, Max: old.Max}, nil)
	t.Cleanup(func() { set(&old, nil) })
}
