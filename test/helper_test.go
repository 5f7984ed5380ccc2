//go:build linux

package test

// This file is the helper program: what tests run as a command or as a false agent.

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"
)

// helper is the main of the program: helper VERB ARG.
func helper() {
	verbs := map[string]func(arg string) error{
		"trickle": trickle,
		"http":    serveFalse(answerHTTP),
		"noise":   serveFalse(answerNoise),
		"silence": serveFalse(answerNothing),
	}
	if len(os.Args) != 3 || verbs[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "helper: %q: give a verb and its argument\n", os.Args[1:])
		os.Exit(2)
	}
	if err := verbs[os.Args[1]](os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "helper: %v\n", err)
		os.Exit(1)
	}
}

// trickle writes so many bytes, each by itself, over about two seconds.
func trickle(count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	begun := time.Now()
	for i := range n {
		time.Sleep(time.Until(begun.Add(2 * time.Second * time.Duration(i) / time.Duration(n))))
		if _, err := os.Stdout.Write([]byte{'a' + byte(i%26)}); err != nil {
			return err
		}
	}
	return nil
}

// serveFalse returns a server for the socket at a path that is no agent. It makes the file
// PATH.ready when it listens.
func serveFalse(answer func(net.Conn)) func(path string) error {
	return func(path string) error {
		l, err := net.Listen("unix", path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path+".ready", nil, 0o600); err != nil {
			return err
		}
		for {
			conn, err := l.Accept()
			if err != nil {
				return err
			}
			go answer(conn)
		}
	}
}

// answerHTTP is what a web server says to what is no request.
func answerHTTP(conn net.Conn) {
	defer conn.Close()
	_, _ = conn.Read(make([]byte, 64))
	_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
}

// answerNoise sends bytes that mean nothing, a newline early among them, until nobody takes them.
func answerNoise(conn net.Conn) {
	defer conn.Close()
	_, _ = conn.Write([]byte{0x00, '\n', 0xFF, 0x1B})
	_, _ = io.Copy(conn, rand.Reader)
}

// answerNothing takes everything and says nothing.
func answerNothing(conn net.Conn) {
	defer conn.Close()
	_, _ = io.Copy(io.Discard, conn)
}
