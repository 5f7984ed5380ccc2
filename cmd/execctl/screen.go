package main

// This file shows an execution on a terminal: the live view, redrawn in place, and a status
// line below it.

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/execagent/execagent/client"
	"github.com/execagent/execagent/internal/status"
	"golang.org/x/term"
)

const (
	// tick moves the clock in the status line while no output comes.
	tick = 500 * time.Millisecond
	// fallbackRows is used when the terminal does not say its size.
	fallbackRows = 24
)

// screen redraws the last rows of the view in place. Lines are cut at the right edge by the
// terminal itself (autowrap off), which knows the width of its characters best.
type screen struct {
	out   *os.File
	begun time.Time
	done  chan struct{}
	wg    sync.WaitGroup
	once  sync.Once

	mu    sync.Mutex // guards the rest; held while drawing
	view  client.View
	shown bool // something is drawn, and the cursor stands in its last row
	drawn int  // the rows above that
	rate  rate
	lost  error // why the agent is out of reach, or nil
}

// rate is the throughput between the last two batches that were far enough apart.
type rate struct {
	at    time.Time
	bytes int64
	value float64 // bytes a second
}

func (r *rate) add(now time.Time, bytes int64) {
	if d := now.Sub(r.at); d >= tick {
		r.value = float64(bytes-r.bytes) / d.Seconds()
		r.at, r.bytes = now, bytes
	}
}

func newScreen(out *os.File) *screen {
	s := &screen{out: out, begun: time.Now(), done: make(chan struct{})}
	s.rate.at = s.begun
	s.wg.Go(s.tick)
	return s
}

func (s *screen) tick() {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-t.C:
			s.mu.Lock()
			_ = s.draw()
			s.mu.Unlock()
		}
	}
}

func (s *screen) batch(_ client.Batch, v client.View) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view = v
	s.rate.add(time.Now(), v.Truncation.TotalBytes)
	return s.draw()
}

// news shows how the connection is doing, in the status line.
func (s *screen) news(st client.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done: // what is drawn now stays
		return
	default:
	}
	s.lost = st.Cause
	_ = s.draw()
}

// result replaces the moving view by the final one, all of it, for the scrollback.
func (s *screen) result(r *client.Result, v client.View) error {
	s.halt()
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	s.blank(&b)
	text := finalText(r, v)
	b.WriteString(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	if _, err := s.out.Write(b.Bytes()); err != nil {
		return err
	}
	explain(os.Stderr, r)
	fmt.Fprintf(os.Stderr, "\x1b[2m[exit %d · %.1f s · %s]\x1b[m\n", r.ExitCode, r.Seconds, amounts(v))
	return nil
}

// stop ends the clock and leaves what is drawn above the cursor. It may be called more than
// once.
func (s *screen) stop() {
	s.halt()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		fmt.Fprintln(s.out)
		s.shown = false
	}
}

func (s *screen) halt() {
	s.once.Do(func() { close(s.done) })
	s.wg.Wait()
}

// draw replaces what was drawn before, line over line: clearing first would flicker, and a
// terminal may take it for a cleared screen and keep each frame in its scrollback.
func (s *screen) draw() error {
	cols, rows, err := term.GetSize(int(s.out.Fd()))
	if err != nil || cols <= 0 || rows <= 0 {
		rows = fallbackRows
	}
	lines := lastLines(s.view.Text+s.view.Live, max(1, rows-2))
	var b bytes.Buffer
	s.home(&b)
	b.WriteString("\x1b[?7l")
	for _, line := range lines {
		// Erased first: after a line that fills its row, the cursor still stands on it.
		b.WriteString("\x1b[K")
		b.WriteString(line)
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\x1b[K\x1b[7m %s \x1b[m\x1b[?7h\x1b[J", s.status())
	s.drawn, s.shown = len(lines), true
	_, err = s.out.Write(b.Bytes())
	return err
}

// home goes back to where drawing began.
func (s *screen) home(b *bytes.Buffer) {
	b.WriteByte('\r')
	if s.drawn > 0 {
		fmt.Fprintf(b, "\x1b[%dA", s.drawn)
	}
	s.drawn, s.shown = 0, false
}

// blank erases what was drawn, row by row, and goes back to where it began.
func (s *screen) blank(b *bytes.Buffer) {
	rows := s.drawn
	s.home(b)
	b.WriteString("\x1b[K")
	for range rows {
		b.WriteString("\n\x1b[K")
	}
	if rows > 0 {
		fmt.Fprintf(b, "\x1b[%dA", rows)
	}
}

func (s *screen) status() string {
	parts := []string{
		time.Since(s.begun).Truncate(100 * time.Millisecond).String(),
		amounts(s.view),
		status.Size(s.rate.value) + "/s",
	}
	if s.lost != nil {
		parts = append(parts[:2], "out of reach: "+status.Printable(s.lost.Error()))
	}
	if s.view.AltScreen {
		parts = append(parts, "in its alternate screen")
	}
	if s.view.SpillPath != "" {
		parts = append(parts, s.view.SpillPath)
	}
	return strings.Join(parts, " · ")
}

func amounts(v client.View) string {
	lines := fmt.Sprintf("%d lines", v.Truncation.TotalLines)
	if v.Truncation.TotalLines == 1 {
		lines = "1 line"
	}
	return lines + " · " + status.Size(float64(v.Truncation.TotalBytes))
}

// lastLines returns the last n lines of text.
func lastLines(text string, n int) []string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	at := len(text)
	for range n {
		at = strings.LastIndexByte(text[:at], '\n')
		if at < 0 {
			break
		}
	}
	return strings.Split(text[at+1:], "\n")
}
