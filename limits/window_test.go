package limits

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// lines formats the numbers from one to the other.
func lines(format string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// cases are inputs with the text that a person would have seen. They feed the table test,
// the split test and the fuzz seeds.
var cases = []struct {
	name, in, text string
}{
	{"empty", "", ""},
	{"no newline", "a\nb", "a\nb"},
	{"newlines", "\n\n", "\n\n"},
	{"crlf", "ab\r\ncd\r\n", "ab\ncd\n"},
	{"carriage return overwrites", "hello\rJ", "Jello"},
	{"progress bar", "\r1%\r20%\r100%\rdone   \n", "done   \n"},
	{"overwrite wide by narrow", "€€€\rab", "ab€"},
	{"overwrite narrow by wide", "abc\r€", "€bc"},
	{"split character", "x\xe2\x82\xacy\n", "x€y\n"},
	{"invalid bytes", "\377\376ok\000end\n", "\uFFFD\uFFFDokend\n"},
	{"maximal subparts", "\xf0\x9f\x92A\xe2\x82\xed\xa0\x80", "\uFFFDA\uFFFD\uFFFD\uFFFD\uFFFD"},
	{"truncated at the end", "a\xf0\x9f", "a\uFFFD"},
	{"colour", "\033[35mpink\033[0m \033]2;ttl\007end\n", "pink end\n"},
	{"title ended by ST", "\033]0;a\033\\b\033]0;c\xc2\x9cd", "bd"},
	{"8-bit CSI", "\xc2\x9b31mred\xc2\x9b0m", "red"},
	{"unterminated title", "\033]2;never\ntail\n", "\ntail\n"},
	{"unterminated colour", "\033[3\ntail\n", "\ntail\n"},
	{"charset", "\033(Ba\033)0b\033=c", "abc"},
	{"string cut off by a sequence", "\033P1;2\033[31mx", "x"},
	{"cancel", "\033]2;x\x18y\033[3\x1az", "yz"},
	{"cursor report", "\033[6nok", "ok"},
	{"other controls", "a\x00\x01\x07\x08\x0b\x0c\x7f\xc2\x85b\tc", "b\tc"},
	{"wide over wide", "a😀b\r😀", "😀 b"},
	{"escape before a high byte", "\033é\033[é", "éé"},
}

func TestText(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := oracleText([]byte(c.in), Terminal{}); got != c.text {
				t.Errorf("the oracle says %q for %q, want %q", got, c.in, c.text)
			}
			for size := 1; size <= max(1, len(c.in)); size++ {
				w := write(t, Limits{}, Terminal{}, []byte(c.in), size)
				text, live := w.Text()
				if text+live != c.text {
					t.Errorf("writing %q by %d bytes: got %q, want %q", c.in, size, text+live, c.text)
				}
			}
		})
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
}

// write returns a finished window over in, written size bytes at a time.
func write(t interface{ Fatal(...any) }, l Limits, term Terminal, in []byte, size int) *Window {
	l, err := l.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	w := NewWindow(l, term)
	for len(in) > 0 {
		n := min(size, len(in))
		w.Write(in[:n])
		in = in[n:]
	}
	w.Finish()
	return w
}

func TestRetain(t *testing.T) {
	for _, c := range []struct {
		name        string
		limits      Limits
		in          string
		want        string
		first       int64
		total       int64
		by          Bound
		partial     bool
		lastLine    int64
		firstTooBig bool
	}{
		{name: "C16 4000 lines", in: lines("line-%04d\n", 1, 4000), want: lines("line-%04d\n", 2001, 4000), first: 2001, total: 4000, by: ByLines},
		{name: "C16 2000 lines", in: lines("%d\n", 1, 2000), want: lines("%d\n", 1, 2000), first: 1, total: 2000},
		{name: "C16 2001 lines", in: lines("%d\n", 1, 2001), want: lines("%d\n", 2, 2001), first: 2, total: 2001, by: ByLines},
		{name: "an unfinished line counts", in: lines("%d\n", 1, 2000) + "x", want: lines("%d\n", 2, 2000) + "x", first: 2, total: 2001, by: ByLines},
		{name: "C11 with newline", limits: Limits{MaxBytes: 1024}, in: strings.Repeat("q", 300000) + "\n", want: strings.Repeat("q", 1023) + "\n", first: 1, total: 1, by: ByBytes, partial: true, lastLine: 300001},
		{name: "C11 without", limits: Limits{MaxBytes: 1024}, in: strings.Repeat("q", 300000), want: strings.Repeat("q", 1024), first: 1, total: 1, by: ByBytes, partial: true, lastLine: 300000},
		{name: "a short line after a long one", limits: Limits{MaxBytes: 10}, in: strings.Repeat("q", 50) + "\nab", want: "ab", first: 2, total: 2, by: ByBytes},
		{name: "cut between characters", limits: Limits{MaxBytes: 10}, in: strings.Repeat("€", 50), want: "€€€", first: 1, total: 1, by: ByBytes, partial: true, lastLine: 150},
		{name: "both limits reached exactly", limits: Limits{MaxBytes: 4, MaxLines: 2}, in: "a\nb\nc\n", want: "b\nc\n", first: 2, total: 3, by: ByLines},
		{name: "nothing but colour after the last newline", limits: Limits{MaxLines: 2}, in: "a\nb\nc\n\033[0m", want: "b\nc\n", first: 2, total: 4, by: ByLines},
		{name: "head by lines", limits: Limits{Retain: RetainHead}, in: lines("%d\n", 1, 4000), want: lines("%d\n", 1, 2000), first: 1, total: 4000, by: ByLines},
		{name: "head at the limit", limits: Limits{Retain: RetainHead}, in: lines("%d\n", 1, 2000), want: lines("%d\n", 1, 2000), first: 1, total: 2000},
		{name: "head cut in a line", limits: Limits{Retain: RetainHead, MaxBytes: 6}, in: "ab\ncd€f\nx", want: "ab\ncd", first: 1, total: 3, by: ByBytes, partial: true, lastLine: 7},
		{name: "head of one long line", limits: Limits{Retain: RetainHead, MaxBytes: 4}, in: "abcdefgh", want: "abcd", first: 1, total: 1, by: ByBytes, partial: true, lastLine: 8, firstTooBig: true},
		{name: "head too small for a character", limits: Limits{Retain: RetainHead, MaxBytes: 2}, in: "€a", want: "", first: 1, total: 1, by: ByBytes, firstTooBig: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 7, 4096, 1 << 20} {
				w := write(t, c.limits, Terminal{}, []byte(c.in), size)
				text, _ := w.Text()
				tr := w.Truncation()
				by := Bound("")
				if tr.TruncatedBy != nil {
					by = *tr.TruncatedBy
				}
				var d Delta
				w.Delta(new(Cursor), &d)
				if text != c.want || tr.FirstLine != c.first || tr.TotalLines != c.total || by != c.by ||
					tr.LastLinePartial != c.partial || d.LastLineBytes != c.lastLine || tr.FirstLineExceedsLimit != c.firstTooBig {
					t.Errorf("by %d bytes: view of %d bytes %.40q…, %+v by %q, last line %d\nwant %d bytes %.40q…, %+v",
						size, len(text), text, tr, by, d.LastLineBytes, len(c.want), c.want, c)
				}
			}
		})
	}
}

// generate draws output of the kinds that matter: plain lines, carriage returns, escape
// sequences whole and broken, multi-byte and invalid bytes, long lines.
func generate(t *rapid.T) []byte {
	piece := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) []byte {
			return []byte(rapid.StringMatching(`[a-z ]{0,12}\n?`).Draw(t, "line"))
		}),
		rapid.Custom(func(t *rapid.T) []byte {
			return []byte(rapid.SampledFrom([]string{
				"\r", "\n", "\r\n", "\t", "\033", "\033[", "\033[31m", "\033[0;1;38;5;9m", "\033]0;t\007", "\033]8;;u\033\\",
				"\033P", "\033_x", "\033\\", "\xc2\x9b", "\xc2\x9c", "\xc2\x9d", "\xc2", "\x9c", "\x07", "\x18", "\x08", "\x00",
				"€", "é", "😀", "\xe2\x82", "\xf0\x9f\x98", "\xff", "\xed\xa0\x80", "\u2028", "日本", "\033(", "B", "[", "]", ";",
			}).Draw(t, "special"))
		}),
		rapid.SliceOfN(rapid.Byte(), 0, 6),
		rapid.Custom(func(t *rapid.T) []byte {
			unit := rapid.SampledFrom([]string{"x", "€", "ab\n", "\r50%", "\033]", "\033[1;", "y😀"}).Draw(t, "unit")
			return bytes.Repeat([]byte(unit), rapid.SampledFrom([]int{3, 40, 700, 2100, 4097, 9000}).Draw(t, "times"))
		}),
	)
	return bytes.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), nil)
}

func generateLimits(t *rapid.T) Limits {
	return Limits{
		MaxBytes: rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(13, 9000)).Draw(t, "maxBytes"),
		MaxLines: rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(6, 4000)).Draw(t, "maxLines"),
		Retain:   rapid.SampledFrom([]Retain{RetainHead, RetainTail}).Draw(t, "retain"),
	}
}

func generateTerminal(t *rapid.T) Terminal {
	return Terminal{
		Columns: rapid.SampledFrom([]int{0, 1, 2, 5, 8, 9, 20, 40}).Draw(t, "columns"),
		Rows:    rapid.SampledFrom([]int{0, 1, 2, 3, 6}).Draw(t, "rows"),
		Raw:     rapid.IntRange(0, 9).Draw(t, "raw") == 0,
	}
}

// watch is one watcher of a window under test.
type watch struct {
	cursor  Cursor
	delta   Delta
	replica replica
}

// TestWindowAgainstOracle: whatever the bytes, the limits, the read boundaries and the
// moments of publication, every watcher folds to the window's view, no view breaks a limit,
// and the final view is what the oracle computes from all bytes at once.
func TestWindowAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.OneOf(rapid.Custom(generate), rapid.Custom(generateScreen)).Draw(t, "raw")
		l := generateLimits(t)
		term := generateTerminal(t)
		w := NewWindow(l, term)
		watchers := []*watch{{}, {}}
		checkView(t, w, l, watchers[0])
		for rest := raw; len(rest) > 0; {
			n := min(len(rest), rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(1, 20000)).Draw(t, "read"))
			w.Write(rest[:n])
			rest = rest[n:]
			for _, watch := range watchers {
				if rapid.Bool().Draw(t, "flush") {
					checkView(t, w, l, watch)
				}
			}
		}
		w.Finish()
		if !withinReach(raw, term) {
			return
		}
		want, wantTr, wantLast := oracle(raw, l, term)
		for _, watch := range append(watchers, &watch{}) {
			checkView(t, w, l, watch)
			if got := watch.replica.view(); got != want {
				t.Fatalf("limits %+v, %+v, input %q:\ngot  %q\nwant %q", l, term, raw, got, want)
			}
			if diff := cmp.Diff(wantTr, watch.replica.truncation); diff != "" {
				t.Fatalf("limits %+v, %+v, input %q: truncation (-want +got):\n%s", l, term, raw, diff)
			}
			if watch.replica.lastLine != wantLast {
				t.Fatalf("limits %+v, %+v, input %q: last line %d bytes, want %d", l, term, raw, watch.replica.lastLine, wantLast)
			}
		}
	})
}

func checkView(t *rapid.T, w *Window, l Limits, watch *watch) {
	drops := w.Drops()
	w.Delta(&watch.cursor, &watch.delta)
	if err := watch.replica.apply(&watch.delta); err != nil {
		t.Fatalf("folding: %v", err)
	}
	text, live := w.Text()
	got := watch.replica.view()
	tr := watch.replica.truncation
	switch {
	case got != text+live:
		t.Fatalf("folded %q, want %q", got, text+live)
	case len(got) > l.MaxBytes || int64(len(got)) != tr.OutputBytes:
		t.Fatalf("view of %d bytes, says %d, limit %d", len(got), tr.OutputBytes, l.MaxBytes)
	case tr.OutputLines > int64(l.MaxLines):
		t.Fatalf("view of %d lines, limit %d", tr.OutputLines, l.MaxLines)
	case !utf8.ValidString(got):
		t.Fatalf("view is not valid UTF-8: %q", got)
	case strings.ContainsFunc(got, isControl):
		t.Fatalf("control character in %q", got)
	case drops && !tr.Truncated:
		t.Fatalf("the window drops text, the view does not say so: %+v", tr)
	}
	w.Delta(&watch.cursor, &watch.delta)
	if !watch.delta.Empty() {
		t.Fatalf("a second delta without a change is not empty: %+v", watch.delta)
	}
}

// FuzzWindow: any bytes, any split: no panic, text without control characters, within the limits
// and the bound on memory, and the split does not show. What is short enough for all of it to be
// within reach of the cursor is what the oracle says.
func FuzzWindow(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.in), uint16(10), uint16(3), true, uint8(3), uint8(9), uint8(4))
	}
	f.Fuzz(func(t *testing.T, raw []byte, maxBytes, maxLines uint16, keepHead bool, size, columns, rows uint8) {
		term := Terminal{Columns: int(columns), Rows: int(rows)}
		l := Limits{MaxBytes: int(maxBytes), MaxLines: int(maxLines)}
		if keepHead {
			l.Retain = RetainHead
		}
		whole := write(t, l, term, raw, max(1, len(raw)))
		split := write(t, l, term, raw, int(size)+1)
		a, _ := whole.Text()
		b, _ := split.Text()
		if a != b || !whole.Truncation().Equal(split.Truncation()) {
			t.Errorf("input %q, limits %+v, %+v: whole %q, by %d %q", raw, l, term, a, int(size)+1, b)
		}
		l, _ = l.Resolve()
		if !utf8.ValidString(a) || strings.ContainsFunc(a, isControl) || len(a) > l.MaxBytes {
			t.Errorf("input %q, limits %+v, %+v: a view of %d bytes: %q", raw, l, term, len(a), a)
		}
		w := NewWindow(l, term)
		for range min(8, 1+1<<16/(len(raw)+1)) {
			w.Write(raw)
			w.Truncation()
			checkMemory(t, w)
		}
		if len(raw) > 1000 || !withinReach(raw, term) {
			return
		}
		if want, _, _ := oracle(raw, l, term); a != want {
			t.Errorf("input %q, limits %+v, %+v: got %q, want %q", raw, l, term, a, want)
		}
	})
}

func isControl(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7F && r < 0xA0
}

// checkMemory fails when a window holds more than four times its bound and what a screen may take
// beside that when the bound is small.
func checkMemory(t testing.TB, w *Window) {
	t.Helper()
	const beside = 96 << 10
	held := cap(w.live)
	lines := w.terminal.screen.lines
	for _, r := range lines[:cap(lines)] {
		held += cap(r.buf) + int(unsafe.Sizeof(r))
	}
	switch s := w.settled.(type) {
	case *tail:
		held += cap(s.buf)
	case *head:
		held += cap(s.buf)
	}
	most := 4 * w.limits.MaxBytes
	if w.limits.MaxBytes < DefaultMaxBytes {
		most += beside
	}
	if held > most {
		t.Errorf("holds %d bytes, limit %d: %d lines that can change, of %d bytes", held, most, len(lines), w.terminal.screen.size().bytes)
	}
}

// TestMemory: a window holds at most four times its bound, whatever comes.
func TestMemory(t *testing.T) {
	for _, chunk := range []string{
		"x", "0123456789012345678901234567890123456789\n", "\r50%", "\u0301", "日本語",
		"\033[999999999C\033[99@x\033[A", "\033[999;999Hx\n", "\n\033[A\033[L", "x\033[999999999b\n\033[2A\n\n\n",
		"日\033[999999999b\n\033[40A\033[2J", strings.Repeat("日", 100) + "\n\033[A\033[B", "\033[S\033[A\033[999b",
		"\033[1000;2000H\u0301\u0301\u0301\u0301\u0301\b\u0301\u0301\u0301", "\033M\033[999Cx\u0301\b\u0301\u0301\u0301\u0301",
	} {
		for _, term := range []Terminal{{}, {Columns: 200, Rows: 50}, {Columns: 2000, Rows: 1000}} {
			for _, retain := range []Retain{RetainHead, RetainTail} {
				l, _ := Limits{Retain: retain}.Resolve()
				w := NewWindow(l, term)
				p := bytes.Repeat([]byte(chunk), max(1, 2000/len(chunk)))
				for range 30 {
					w.Write(p)
					w.Truncation()
				}
				if checkMemory(t, w); t.Failed() {
					t.Fatalf("of %q, %s, %+v", chunk, retain, term)
				}
			}
		}
	}
}

func TestResolve(t *testing.T) {
	got, err := Limits{}.Resolve()
	if want := (Limits{51200, 2000, RetainTail}); err != nil || got != want {
		t.Errorf("defaults: %+v, %v, want %+v", got, err, want)
	}
	for _, bad := range []Limits{{MaxBytes: -1}, {MaxLines: -5}, {MaxBytes: MaxMaxBytes + 1}, {Retain: "middle"}} {
		if _, err := bad.Resolve(); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// TestFirstLineAfterReturn: a newline that comes back to the last line, which is unfinished, does
// not count as one behind it.
func TestFirstLineAfterReturn(t *testing.T) {
	l, err := Limits{MaxLines: 2}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		output       string
		first, total int64
	}{
		{"1\n2\n3", 2, 3},
		{"1\n2\n3\x1b[A", 2, 3},
		{"1\n2\n3\x1b[A\n", 2, 3},
		{"1\n2\n3\x1b[A\n3", 3, 4}, // line 4 of the raw bytes wrote it
		{"1\n2\n3\n\x1b[m", 2, 4},
		{"1\n2\n3\x1b[?1049h\n", 2, 3}, // seen by nobody
	} {
		w := NewWindow(l, Terminal{Columns: 80, Rows: 24})
		w.Write([]byte(c.output))
		tr := w.Truncation()
		if tr.FirstLine != c.first || tr.TotalLines != c.total {
			text, live := w.Text()
			t.Errorf("%q shows %q from line %d of %d, want %d of %d", c.output, text+live, tr.FirstLine, tr.TotalLines, c.first, c.total)
		}
	}
}
