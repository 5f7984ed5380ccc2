//go:build linux

package execagent

import (
	"bytes"
	"os"
	"sync"
	"testing"

	"github.com/execagent/execagent/transport/protocol"
)

// TestPTYEnd: a PTY closed upon its last bytes while it is being read gives them all. The
// kernel now and then announces the end too early, in these rounds almost certainly.
func TestPTYEnd(t *testing.T) {
	last := bytes.Repeat([]byte("x"), 959)
	const writes = 4
	for range 20_000 {
		master, slave, err := openPTY(&protocol.Spec{Columns: 80, Rows: 24})
		if err != nil {
			t.Fatal(err)
		}
		var writer sync.WaitGroup
		writer.Go(func() {
			for range writes {
				if _, err := slave.Write(last); err != nil {
					t.Error(err)
				}
			}
			slave.Close()
		})
		p := &pump{file: master}
		got := 0
		for p.err == nil {
			p.n = 0
			if err := control(master, func(fd int) error { p.ready(uintptr(fd)); return nil }); err != nil {
				t.Fatal(err)
			}
			got += p.n
		}
		p.release()
		writer.Wait()
		master.Close()
		if got != writes*len(last) {
			t.Fatalf("%d bytes of %d before %v", got, writes*len(last), p.err)
		}
	}
}

// TestIdle: a pump that was not yet scheduled to read what is there is not idle.
func TestIdle(t *testing.T) {
	master, slave, err := openPTY(&protocol.Spec{Columns: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := outputPipe()
	if err != nil {
		t.Fatal(err)
	}
	for name, ends := range map[string][2]*os.File{"pty": {master, slave}, "pipe": {r, w}} {
		t.Run(name, func(t *testing.T) {
			defer ends[0].Close()
			p := &pump{file: ends[0], ended: make(chan struct{})}
			read := func() {
				p.n = 0
				_ = control(p.file, func(fd int) error { p.ready(uintptr(fd)); return nil })
			}
			is := func(want bool, when string) {
				t.Helper()
				if (pumps{p}).idle() != want {
					t.Errorf("idle is %v %s", !want, when)
				}
			}
			is(false, "before the first read")
			read()
			is(true, "with nothing written")
			if _, err := ends[1].Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			is(false, "with a byte to read")
			read()
			is(false, "with a byte not written on")
			read()
			is(true, "with the byte written on")
			ends[1].Close()
			is(false, "before the end was read")
			close(p.ended)
			is(true, "after the end")
		})
	}
}
