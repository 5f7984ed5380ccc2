// Package profiler hands out profiles of this process, for go tool pprof, to whoever connects
// to a socket and names one:
//
//	printf 'cpu 10\n' | nc -U SOCKET > cpu.pb.gz
//	printf 'heap\n' | nc -U SOCKET > heap.pb.gz
//
// A request is one line: "cpu", with how many seconds to watch (1 to 600, default 10), or the
// name of a profile of [pprof.Lookup]. The answer is the profile in pprof's form, or one line
// that begins with "error: ".
//
// It is not net/http/pprof because that adds 1.5 MiB to a static binary, a fifth of ours.
package profiler

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxRequest     = 100              // bytes of a request
	requestTimeout = 10 * time.Second // for the request to arrive
	answerTimeout  = time.Minute      // for the profile to be taken away
	defaultSeconds = 10
	maxSeconds     = 600
)

// Serve answers connections of l until ctx ends, closes
// l, and returns when all are done. Its error is that of accepting.
func Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("profiler: accepting: %w", err)
		}
		clients.Go(func() { answer(ctx, conn) })
	}
}

func answer(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_ = conn.SetReadDeadline(time.Now().Add(requestTimeout))
	line, err := bufio.NewReader(io.LimitReader(conn, maxRequest)).ReadString('\n')
	if err != nil {
		err = fmt.Errorf("a request is one line of %d bytes at most", maxRequest)
	} else {
		err = profile(ctx, conn, strings.Fields(line))
	}
	if err != nil {
		_ = conn.SetWriteDeadline(time.Now().Add(answerTimeout))
		fmt.Fprintf(conn, "error: %v\n", err)
	}
}

// profile writes the profile that the words of a request ask for.
func profile(ctx context.Context, conn net.Conn, request []string) error {
	if len(request) > 0 && request[0] == "cpu" {
		return cpuProfile(ctx, conn, request[1:])
	}
	if len(request) == 1 {
		if p := pprof.Lookup(request[0]); p != nil {
			_ = conn.SetWriteDeadline(time.Now().Add(answerTimeout))
			return p.WriteTo(conn, 0)
		}
	}
	return fmt.Errorf("%.60q names no profile: ask for \"cpu SECONDS\", heap, allocs, goroutine, threadcreate, block or mutex", request)
}

func cpuProfile(ctx context.Context, conn net.Conn, args []string) error {
	seconds := defaultSeconds
	if len(args) > 0 {
		var err error
		if seconds, err = strconv.Atoi(args[0]); err != nil || len(args) > 1 || seconds < 1 || seconds > maxSeconds {
			return fmt.Errorf("cpu %.60q: give whole seconds, 1 to %d", args, maxSeconds)
		}
	}
	watch := time.Duration(seconds) * time.Second
	_ = conn.SetWriteDeadline(time.Now().Add(watch + answerTimeout))
	if err := pprof.StartCPUProfile(conn); err != nil {
		return err // another is being taken
	}
	defer pprof.StopCPUProfile()
	select {
	case <-time.After(watch):
	case <-ctx.Done():
	}
	return nil
}
