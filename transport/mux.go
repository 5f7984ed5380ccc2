// This file sets every knob of the multiplexer, and routes its log.

package transport

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/hashicorp/yamux"
)

// clocks are the multiplexer's times.
type clocks struct {
	// keepAlive is how often the peer is asked for a sign of life.
	keepAlive time.Duration

	// write bounds one write into the connection, its time in the
	// multiplexer's queue included, and the wait for that sign of life. Past it
	// the session is over: see Session.translate.
	write time.Duration

	// close is how long a peer may take to close its half of a stream we have
	// closed, and to read what we sent before; then the stream is reset.
	// Half-closing for longer is done by the end-of-frames mark, which does not
	// start this clock.
	close time.Duration
}

// defaultClocks let a peer be stopped or out of reach for a moment, and drop one
// that is gone within 25 seconds. A local peer that dies is noticed at once.
var defaultClocks = clocks{keepAlive: 10 * time.Second, write: 15 * time.Second, close: 30 * time.Second}

const (
	// acceptBacklog is how many streams may wait to be accepted. yamux takes
	// it for granted that both sides use the same.
	acceptBacklog = 256

	// streamWindow is what a peer may send on a stream ahead of its reader, in
	// bytes. It is also the least yamux allows.
	streamWindow = 256 << 10

	// maxChunk is the largest piece of a frame handed to yamux at once, in
	// bytes. yamux has one queue for all streams: a keystroke waits behind at
	// most one such piece of every other stream.
	maxChunk = 32 << 10
)

// muxConfig sets all of yamux's options, so that a new default changes nothing.
func muxConfig(log *slog.Logger, times clocks) *yamux.Config {
	return &yamux.Config{
		AcceptBacklog: acceptBacklog,
		// Session.keepAlive does it: nobody waits for yamux's own goroutine.
		EnableKeepAlive:        false,
		KeepAliveInterval:      times.keepAlive, // unused, but zero is refused
		ConnectionWriteTimeout: times.write,
		MaxStreamWindowSize:    streamWindow,
		// Zero disables it. A timer here would close the whole session because
		// one stream was not accepted for a while; callers have contexts.
		StreamOpenTimeout:  0,
		StreamCloseTimeout: times.close,
		LogOutput:          nil, // its default is stderr
		Logger:             muxLog{log},
	}
}

// muxLog hands yamux's log lines, which never hold payload, to slog.
type muxLog struct{ log *slog.Logger }

// Print implements yamux.Logger.
func (l muxLog) Print(v ...any) { l.emit(fmt.Sprint(v...)) }

// Println implements yamux.Logger.
func (l muxLog) Println(v ...any) { l.emit(fmt.Sprintln(v...)) }

// Printf implements yamux.Logger.
func (l muxLog) Printf(format string, v ...any) { l.emit(fmt.Sprintf(format, v...)) }

// emit drops the level prefix. What yamux calls an error or a warning is often
// the normal end of a session or a stream that had data under way; what matters
// of it, the session and the streams return as their errors.
func (l muxLog) emit(line string) {
	line = strings.TrimSpace(line)
	for _, prefix := range []string{"[ERR] ", "[WARN] ", "yamux: "} {
		line = strings.TrimPrefix(line, prefix)
	}
	l.log.Debug("transport: multiplexer", "message", line)
}
