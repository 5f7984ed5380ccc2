package main

// This file is the signal that the terminal was closed.

import (
	"os"
	"os/signal"
	"syscall"
)

// hangups gets SIGHUP, unless execctl was told to ignore it (nohup).
var hangups = make(chan os.Signal, 1)

func catchHangups() { signal.Notify(hangups, syscall.SIGHUP) }

// onHangup calls f when the terminal is closed, until stop is called.
func onHangup(f func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-hangups:
			f()
		case <-done:
		}
	}()
	return func() { close(done) }
}
