package limits

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// finals are the final bytes of control sequences that this package knows, and a few it does not.
const finals = "ABCDEFGHJKLMPSTX@`abdefhlrsumnqct"

// generateScreen draws what programs that redraw print: short enough that all of it is within
// reach of the cursor.
func generateScreen(t *rapid.T) []byte {
	number := rapid.SampledFrom([]string{"", "0", "1", "2", "3", "5", "9", "40", "999999999"})
	piece := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) []byte {
			return []byte(rapid.StringMatching(`[a-z ]{0,12}\n?`).Draw(t, "line"))
		}),
		rapid.Custom(func(t *rapid.T) []byte {
			return []byte(rapid.SampledFrom([]string{
				"\r", "\n", "\r\n", "\t", "\b", "\b\b\b", "\n\n\n", "a\tb", "日本語", "ａ", "e\u0301", "\u0301", "é",
				"\0337", "\0338", "\033D", "\033E", "\033M", "\033c", "\033(0qx\033(B", "\016", "\033)0", "\017",
				"\033[?1049h", "\033[?1049l", "\033[?7l", "\033[?7h", "\033[4h", "\033[4l", "\033[!p", "\033[2;4r", "\033[r",
				"\033[H", "\033[2J", "\033[K", "\033[1A\033[2K", "\033[A\033[A", "\033[2A\033[J", "\x9b", "\xff",
			}).Draw(t, "special"))
		}),
		rapid.Custom(func(t *rapid.T) []byte {
			return fmt.Appendf(nil, "\033[%s%c", number.Draw(t, "n"), finals[rapid.IntRange(0, len(finals)-1).Draw(t, "final")])
		}),
		rapid.Custom(func(t *rapid.T) []byte {
			return fmt.Appendf(nil, "\033[%s;%s%c", number.Draw(t, "n"), number.Draw(t, "m"), rapid.SampledFrom([]byte("Hfr")).Draw(t, "final"))
		}),
		rapid.Custom(func(t *rapid.T) []byte {
			return bytes.Repeat([]byte("line\n"), rapid.IntRange(1, 8).Draw(t, "lines"))
		}),
	)
	return bytes.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), nil)
}

// TestScreenAgainstOracle: the text of a terminal, lazily kept, is that of a matrix of cells.
func TestScreenAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := generateScreen(t)
		term := generateTerminal(t)
		l := Limits{Retain: rapid.SampledFrom([]Retain{RetainHead, RetainTail}).Draw(t, "retain")}
		want, _ := oracleText(raw, term)
		w := write(t, l, term, raw, rapid.IntRange(1, 9).Draw(t, "read"))
		if got, _ := w.Text(); got != want {
			t.Fatalf("%+v, input %q:\ngot  %q\nwant %q", term, raw, got, want)
		}
	})
}

// TestWrappedLines: lines of several rows that are changed where they stand, and gone back to after
// newlines: where they were broken is not forgotten.
func TestWrappedLines(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "bc", "d", "日", "日", "é", "\u0301", "\t", "\r", "\b", "\b", "\033[K", "\033[P", "\033[@", "\033[X", "\033[1K", "\033[C",
		"\n", "\n", "\n\033[Az", "\n\033[2A\r日", "\n\n\033[3Ayz", "\033[2;3r\033[9B",
	})
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), ""))
		term := Terminal{Columns: rapid.IntRange(2, 6).Draw(t, "columns"), Rows: rapid.IntRange(1, 5).Draw(t, "rows")}
		want, _ := oracleText(raw, term)
		w := write(t, Limits{}, term, raw, rapid.IntRange(1, 9).Draw(t, "read"))
		if got, _ := w.Text(); got != want {
			t.Fatalf("%+v, input %q:\ngot  %q\nwant %q", term, raw, got, want)
		}
	})
}
