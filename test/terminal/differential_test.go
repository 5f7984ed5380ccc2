//go:build linux

package terminal

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	streams = flag.Int("streams", 300, "streams to compare with tmux")
	seed    = flag.Uint64("seed", 1, "of the first of them")
)

// sizes are the terminals compared, columns and rows.
var sizes = [][2]int{{20, 6}, {80, 24}, {9, 4}}

// TestAgainstTmux: the text of a stream is what tmux shows of it in the end, scrollback included.
func TestAgainstTmux(t *testing.T) {
	byRows := 0
	for _, size := range sizes {
		m := startTmux(t, size[0], size[1])
		for i := range *streams / len(sizes) {
			at := *seed + uint64(i)
			pieces := generate(rand.New(rand.NewPCG(at, uint64(m.columns))), m.columns, m.rows)
			how := m.compare(pieces)
			if how == equalRows {
				byRows++
			}
			if how != different {
				continue
			}
			pieces = shrink(pieces, func(p [][]byte) bool { return m.compare(p) == different })
			stream := bytes.Join(pieces, nil)
			ours, theirs := m.both(stream, true)
			t.Errorf("seed %d, %d×%d, stream %q:\ngot  %q\ntmux %q", at, m.columns, m.rows, stream, ours, theirs)
		}
	}
	if t.Logf("%d of %d equal by rows only", byRows, *streams); byRows > *streams/20 {
		t.Errorf("%d of %d streams are equal only row by row, want few", byRows, *streams)
	}
}

type outcome int

const (
	different outcome = iota
	equal
	equalRows // but not as to which rows are one line
)

// compare compares our text of a stream with tmux's. When rows have moved under the cursor, or it has
// wrapped at the end of an empty row, tmux may not know any more which rows are one line.
func (m *tmux) compare(pieces [][]byte) outcome {
	stream := bytes.Join(pieces, nil)
	if ours, theirs := m.both(stream, true); ours == theirs {
		return equal
	}
	if ours, theirs := m.both(stream, false); ours == theirs {
		return equalRows
	}
	return different
}

// both returns our text of a stream and that of tmux, without what is not compared, with wrapped
// lines whole or in their rows.
func (m *tmux) both(stream []byte, join bool) (ours, theirs string) {
	ours = clean(expand(text(stream, m.columns, m.rows), m.columns, !join))
	theirs = clean(m.show(stream, join))
	if clears(stream) {
		ours, theirs = blankLines.ReplaceAllString(ours, ""), blankLines.ReplaceAllString(theirs, "")
	}
	return ours, theirs
}

var blankLines = regexp.MustCompile(`(?m)^\n`)

// clears reports whether a stream clears the screen. Of a screen cleared tmux keeps rows that
// were blank again, too.
func clears(stream []byte) bool {
	for _, s := range []string{"\033c", "\033[2J", "\033[J"} {
		if bytes.Contains(stream, []byte(s)) {
			return true
		}
	}
	return false
}

// shrink takes pieces out while what is left still fails.
func shrink(pieces [][]byte, fails func([][]byte) bool) [][]byte {
	for i := 0; i < len(pieces); {
		if less := slices.Delete(slices.Clone(pieces), i, i+1); fails(less) {
			pieces, i = less, 0
		} else {
			i++
		}
	}
	return pieces
}

// letters are what tmux copies of lines that were drawn with DEC Special Graphics.
var letters = strings.NewReplacer("┘", "j", "┐", "k", "┌", "l", "└", "m", "─", "q", "├", "t", "┤", "u", "│", "x")

// TestRecordingsAgainstTmux: tmux shows of a recording what we read in it.
func TestRecordingsAgainstTmux(t *testing.T) {
	m := startTmux(t, 80, 24)
	for name, raw := range recordings(t) {
		if name == "dialog" {
			continue // it leaves the alternate screen twice, and tmux takes the cursor back twice
		}
		ours, theirs := m.both(raw, true)
		ours, theirs = letters.Replace(ours), letters.Replace(theirs)
		if diff := cmp.Diff(strings.Split(theirs, "\n"), strings.Split(ours, "\n")); diff != "" {
			t.Errorf("%s (-tmux +got):\n%s", name, diff)
		}
	}
}
