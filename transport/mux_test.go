// This file holds the test of the multiplexer's log.

package transport

import (
	"bytes"
	"io"
	"log/slog"
	"testing"
)

func TestMultiplexerLog(t *testing.T) {
	var out bytes.Buffer
	l := muxLog{slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { // no time
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))}
	l.Printf("[ERR] yamux: Failed to read header: %v", io.ErrUnexpectedEOF)
	l.Println("[WARN] yamux: frame for missing stream")
	l.Print("plain")
	want := `level=DEBUG msg="transport: multiplexer" message="Failed to read header: unexpected EOF"
level=DEBUG msg="transport: multiplexer" message="frame for missing stream"
level=DEBUG msg="transport: multiplexer" message=plain
`
	if got := out.String(); got != want {
		t.Errorf("log:\n%s\nwant:\n%s", got, want)
	}
}
