package terminal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// Pieces of streams: what programs print and the sequences that docs/terminal-text.md says are
// followed as tmux does, without those that it says are not.
var (
	plain = []string{
		"a", "bc ", "word", "line\n", "\n", "\r\n", "  x", "a longer line of words\n", "0123456789", "50%", "...",
		"日本", "語\n", "é", "e\u0301", "→", "│",
	}
	controls = []string{
		"\r", "x\b", "xy\b\b", "\r\033[K", "\t", "\0337", "\0338", "\033D", "\033E", "\033M", "\033[31m", "\033[0m", "\033]0;t\007",
		"\033[s", "\033[u", "\033[H", "\033[2J", "\033[J", "\033[1J", "\033[K", "\033[1K", "\033[2K", "\033[?7l", "\033[?7h",
		"\033[r", "\033c", "\033[?25l",
	}
	counted = "ABCDEFGLMPSTXd`"
)

// generate returns the pieces of a stream for a terminal of this size.
func generate(r *rand.Rand, columns, rows int) [][]byte {
	pieces := make([][]byte, 1+r.IntN(40))
	wide := r.IntN(3) == 0
	for i := range pieces {
		p := piece(r, columns, rows)
		if wide && !whole.Match(p) || !wide && bytes.ContainsAny(p, "日語\u0301") {
			p = []byte("w")
		}
		pieces[i] = p
	}
	return pieces
}

// whole are the sequences after which the cursor does not stand within a wide character, as long
// as it did not before. What is then printed over half of one differs in tmux.
var whole = regexp.MustCompile("^(\r|\r\033\\[K|\033\\[H|\033\\[[0-9]*[EFmb]|[^\b\t\r\033]*)$")

func piece(r *rand.Rand, columns, rows int) []byte {
	n := 1 + r.IntN(3)
	switch k := r.IntN(20); {
	case k < 9:
		return []byte(plain[r.IntN(len(plain))])
	case k < 14:
		return []byte(controls[r.IntN(len(controls))])
	case k < 15:
		return fmt.Appendf(nil, "\033[%d;%dH", r.IntN(rows+2), r.IntN(columns+2))
	case k < 16 && n > 1:
		return bytes.Repeat([]byte("line\n"), 1+r.IntN(2*rows))
	case k < 16:
		return append(bytes.Repeat([]byte("w"), columns+1), "\b\b\b-"...) // back to the row above
	case k < 17 && n == 1:
		// A region that scrolls, as apt-get's progress bar has it.
		return fmt.Appendf(nil, "\0337\033[%d;%dr\033[%dHone\ntwo\nthree\n\033[r\0338", 1+r.IntN(rows), 1+r.IntN(rows), 1+r.IntN(rows))
	case k < 17:
		// Not so many that nothing is left of the row: then tmux does nothing.
		return fmt.Appendf(nil, "\r\033[%d@", n)
	case k < 18 && n == 1:
		// Not wrapping while it inserts: what tmux then wraps it does not insert.
		return []byte("\r\033[4hin\033[4l")
	case k < 18:
		return fmt.Appendf(nil, "z\033[%db", n)
	}
	if r.IntN(2) == 0 {
		n = []int{0, columns, 999}[r.IntN(3)]
	}
	return fmt.Appendf(nil, "\033[%d%c", n, counted[r.IntN(len(counted))])
}

// expand puts blanks in the place of tabs and breaks lines where they wrap, as a terminal of so
// many columns shows them.
func expand(text string, columns int, wrap bool) string {
	var b strings.Builder
	column := 0
	for _, c := range text {
		w := 1
		switch {
		case c == '\n':
			w = -column
		case c == '\t':
			w = max(0, min((column/8+1)*8, columns-1)-column)
			b.WriteString(strings.Repeat(" ", w))
			column += w
			continue
		case c == '\u0301':
			w = 0
		case strings.ContainsRune("日本語", c):
			w = 2
		}
		if column+w > columns {
			column = 0
			if wrap {
				b.WriteByte('\n')
			}
		}
		column += w
		b.WriteRune(c)
	}
	return b.String()
}
