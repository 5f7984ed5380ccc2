// Processes we start: their end, their processor time and their memory, as the system tells.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// peakInterval is the time between two looks at a process's peak memory.
const peakInterval = 10 * time.Millisecond

// usage is what a process cost.
type usage struct {
	wall    time.Duration
	cpu     time.Duration // with the descendants it waited for
	peakKiB int64         // its own resident set at its largest
}

// measure runs cmd to its end. Its standard error becomes part of the error.
func measure(cmd *exec.Cmd) (usage, error) { return measureWith(cmd, new(bytes.Buffer)) }

// measureWith is measure, and gives the standard error away.
func measureWith(cmd *exec.Cmd, complaint *bytes.Buffer) (usage, error) {
	cmd.Stderr = complaint
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	stop := watchPeak(cmd.Process.Pid)
	err := cmd.Wait()
	use := usage{wall: time.Since(started), peakKiB: stop(), cpu: cpuOf(cmd.ProcessState)}
	if err != nil {
		return use, fmt.Errorf("%s: %w: %s", cmd.Args[0], err, lastLine(complaint.Bytes()))
	}
	return use, nil
}

// cpuOf returns the processor time of an ended process and the descendants it waited for.
func cpuOf(state *os.ProcessState) time.Duration { return state.UserTime() + state.SystemTime() }

// watchPeak looks at the peak memory of a process until stop is called, which returns it. The
// rusage of wait4 would not do: it begins with the size of the process that forked, ours.
func watchPeak(pid int) (stop func() int64) {
	quit, result := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(peakInterval)
		defer tick.Stop()
		var peak int64
		for {
			peak = max(peak, peakOf(pid))
			select {
			case <-tick.C:
			case <-quit:
				result <- peak
				return
			}
		}
	}()
	return func() int64 { close(quit); return <-result }
}

// peakOf returns the peak resident set of a process in KiB, 0 once it has ended.
func peakOf(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	line, _, _ := bytes.Cut(rest, []byte("kB"))
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	return n
}

// A server is a program that runs until it is told to end.
type server struct {
	cmd       *exec.Cmd
	complaint bytes.Buffer
	ended     chan struct{}
}

// startServer starts cmd and waits until ready reports true.
func startServer(cmd *exec.Cmd, ready func() bool) (*server, error) {
	s := &server{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &s.complaint, &s.complaint
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // the state says more; read after ended
		close(s.ended)
	}()
	deadline := time.After(30 * time.Second)
	for !ready() {
		select {
		case <-s.ended:
			return nil, fmt.Errorf("%s ended at once: %s: %s", cmd.Args[0], cmd.ProcessState, lastLine(s.complaint.Bytes()))
		case <-deadline:
			return nil, errors.Join(fmt.Errorf("%s is not ready after 30 s", cmd.Args[0]), s.stop())
		case <-time.After(2 * time.Millisecond):
		}
	}
	return s, nil
}

// stop ends the server and waits for it. It may be called twice.
func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.ended:
		return nil
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill() // it may have ended
		<-s.ended
		return fmt.Errorf("%s did not end on SIGTERM within 10 s", s.cmd.Args[0])
	}
}

// finish stops the server and returns what it cost.
func (s *server) finish() (usage, error) {
	peak := peakOf(s.cmd.Process.Pid)
	if err := s.stop(); err != nil {
		return usage{}, err
	}
	return usage{cpu: cpuOf(s.cmd.ProcessState), peakKiB: peak}, nil
}
