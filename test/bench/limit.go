// The physical limits: the least that any program must do, in a child of its own so that its
// costs are not ours.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	creack "github.com/creack/pty"
	"golang.org/x/sys/unix"
)

const (
	ptyRead  = 64 << 10  // bytes asked of a read; a PTY gives some 4 KiB at a time
	pipeSize = 1 << 20   // capacity of the pipe, bytes
	pipeRead = 256 << 10 // bytes asked of a read: of 64 KiB to 1 MiB the fastest, measured
)

// limitChildren are what this program is when its first argument says so. They run the
// command given, keep output in the file given, and print a limitReport.
var limitChildren = map[string]func(command, out string) error{
	"limit-pty":  limitPTYChild,
	"limit-pipe": limitPipeChild,
}

// limitReport is what a child prints, as JSON.
type limitReport struct {
	Seconds float64 // from the start of the command to its end and the end of its output
	Bytes   int64
	Lines   int64 // newlines; counted by the PTY's loop only
}

func limitSides(w *workshop) []side {
	return []side{
		{name: limitPTY, mode: pty, run: func(ctx context.Context, in input, _ string) (sample, error) {
			rep, s, err := runLimit(ctx, w.self, "limit-pty", in, "")
			if err == nil && rep.Lines != in.lines {
				err = fmt.Errorf("counted %d lines of %d", rep.Lines, in.lines)
			}
			return s, err
		}},
		{name: limitPipe, mode: pipe, run: func(ctx context.Context, in input, scratch string) (sample, error) {
			out := filepath.Join(scratch, "out")
			_, s, err := runLimit(ctx, w.self, "limit-pipe", in, out)
			if err == nil {
				err = sameFiles(in.path, out)
			}
			return s, err
		}},
	}
}

// runLimit runs a child and checks that it saw every byte.
func runLimit(ctx context.Context, self, role string, in input, out string) (limitReport, sample, error) {
	var stdout bytes.Buffer
	cmd := exec.CommandContext(ctx, self, role, in.command(), out)
	cmd.Stdout = &stdout
	use, err := measure(cmd)
	if err != nil {
		return limitReport{}, sample{}, err
	}
	var rep limitReport
	if err := json.Unmarshal(stdout.Bytes(), &rep); err != nil {
		return rep, sample{}, fmt.Errorf("read the report of %s: %w", role, err)
	}
	if rep.Bytes != in.bytes {
		return rep, sample{}, fmt.Errorf("read %d bytes of %d", rep.Bytes, in.bytes)
	}
	return rep, sample{seconds: rep.Seconds, cpu: use.cpu.Seconds(), peakKiB: use.peakKiB, wireBytes: notMeasured}, nil
}

// limitPTYChild reads a PTY and throws away what it reads but for the count of lines.
func limitPTYChild(command, _ string) error {
	master, slave, err := creack.Open()
	if err != nil {
		return err
	}
	defer master.Close()
	if err := rawOutput(slave); err != nil {
		return err
	}
	var lines lineCounter
	return limitLoop(command, slave, master, ptyRead, &lines, func() int64 { return lines.newlines })
}

// rawOutput turns output processing off: no carriage return is put before a newline.
func rawOutput(tty *os.File) error {
	return control(tty, func(fd int) error {
		attributes, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err != nil {
			return err
		}
		attributes.Oflag &^= unix.OPOST
		return unix.IoctlSetTermios(fd, unix.TCSETS, attributes)
	})
}

// limitPipeChild copies a large pipe to a file.
func limitPipeChild(command, out string) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reader.Close()
	err = control(reader, func(fd int) error {
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize)
		return err
	})
	if err != nil {
		return fmt.Errorf("make the pipe larger: %w", err)
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer file.Close()
	return limitLoop(command, writer, reader, pipeRead, file, func() int64 { return 0 })
}

// control calls f with the descriptor of file. File.Fd would make it blocking and cost the
// loop a thread.
func control(file *os.File, f func(fd int) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	if err := conn.Control(func(fd uintptr) { result = f(int(fd)) }); err != nil {
		return err
	}
	return result
}

// limitLoop runs command with its output going to theirs, which it closes, and copies ours to sink.
func limitLoop(command string, theirs, ours *os.File, buffer int, sink io.Writer, lines func() int64) error {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stdout, cmd.Stderr = theirs, theirs
	started := time.Now()
	err := cmd.Start()
	theirs.Close()
	if err != nil {
		return err
	}
	total, copyErr := copyLoop(sink, ours, make([]byte, buffer))
	if err := errors.Join(copyErr, cmd.Wait()); err != nil {
		return err
	}
	rep := limitReport{Seconds: time.Since(started).Seconds(), Bytes: total, Lines: lines()}
	return json.NewEncoder(os.Stdout).Encode(rep)
}

// copyLoop is read and write and nothing else: io.Copy would splice.
func copyLoop(sink io.Writer, from *os.File, buf []byte) (total int64, err error) {
	for {
		n, err := from.Read(buf)
		if _, err := sink.Write(buf[:n]); err != nil {
			return total, err
		}
		total += int64(n)
		switch {
		case err == io.EOF, errors.Is(err, syscall.EIO): // EIO is the end of a PTY
			return total, nil
		case err != nil:
			return total, err
		}
	}
}
