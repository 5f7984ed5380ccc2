// Tests of line ranges against the way of doing it that a reader can check by eye.

package spill

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// naiveLines is sed -n FROM,TOp.
func naiveLines(text string, from, to int64) string {
	var out strings.Builder
	n := int64(0)
	for line := range strings.Lines(text) {
		if n++; n >= from && (to == 0 || n <= to) {
			out.WriteString(line)
		}
	}
	return out.String()
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		text     string
		from, to int64
		want     string
	}{
		{"a\nb\nc\n", 2, 2, "b\n"},
		{"a\nb\nc\n", 1, 0, "a\nb\nc\n"},
		{"a\nb\nc\n", 0, 0, "a\nb\nc\n"},
		{"a\nb\nc", 3, 9, "c"},
		{"a\nb\nc", 4, 9, ""},
		{"a\nb\nc", 2, 1, ""},
		{"", 1, 0, ""},
		{"\n\n\n", 2, 3, "\n\n"},
		{"a\n", 1<<62 + 1, 1 << 62, ""},
	} {
		got, err := io.ReadAll(Lines(strings.NewReader(c.text), c.from, c.to))
		if err != nil || string(got) != c.want {
			t.Errorf("lines %d to %d of %q: %q, %v, want %q", c.from, c.to, c.text, got, err, c.want)
		}
	}
}

func TestLinesAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 60, -1).Draw(t, "text")
		from, to := rapid.Int64Range(0, 20).Draw(t, "from"), rapid.Int64Range(0, 20).Draw(t, "to")
		var r io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(t, "halves") {
			r = iotest.HalfReader(r)
		}
		var got bytes.Buffer
		buf := make([]byte, rapid.IntRange(1, 70).Draw(t, "buffer"))
		if _, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{Lines(r, from, to)}, buf); err != nil {
			t.Fatal(err)
		}
		if want := naiveLines(text, from, to); got.String() != want {
			t.Fatalf("lines %d to %d of %q: %q, want %q", from, to, text, got.String(), want)
		}
	})
}

// What went wrong while reading is not the end of the lines.
func TestLinesError(t *testing.T) {
	r := io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(io.ErrClosedPipe))
	got, err := io.ReadAll(Lines(r, 2, 0))
	if string(got) != "b\n" || err != io.ErrClosedPipe {
		t.Errorf("%q, %v, want what came before the error, and the error", got, err)
	}
}
