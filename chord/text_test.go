// Text, numbers and code units, against encoding/json and unicode/utf16.

package chord

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// anyBytes generates text with what matters to JSON, valid UTF-8 or not.
var anyBytes = rapid.Custom(func(t *rapid.T) []byte {
	part := rapid.OneOf(
		rapid.SliceOfN(rapid.Byte(), 0, 20),
		rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) }),
		rapid.Map(rapid.StringMatching(`[a-z ]{0,40}[\n"\\]?`), func(s string) []byte { return []byte(s) }),
	)
	return bytes.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), nil)
})

// TestQuoted compares with encoding/json, which escapes a little more.
func TestQuoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyBytes.Draw(t, "text")
		got := appendQuoted([]byte("before"), text)
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(string(text)); err != nil {
			t.Fatal(err)
		}
		unescaped := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029", `\ufffd`, "\uFFFD")
		line := "before" + strings.TrimSuffix(want.String(), "\n")
		// The replacer would also hit an escaped backslash before u2028.
		if !bytes.Contains(text, []byte(`\u`)) && string(got) != unescaped.Replace(line) {
			t.Errorf("appendQuoted(%q) = %s, want %s", text, got, unescaped.Replace(line))
		}
		var back string
		if err := json.Unmarshal(got[len("before"):], &back); err != nil || back != validText(string(text)) {
			t.Errorf("appendQuoted(%q) = %s, which reads as %q, %v", text, got, back, err)
		}
	})
}

func TestQuotedBytes(t *testing.T) {
	for c := range 256 {
		// At every position of the eight bytes looked at in one step.
		for before := range 9 {
			text := strings.Repeat("x", before) + string([]byte{byte(c)}) + "yyyyyyyyy"
			want := `"` + strings.Repeat("x", before) + escapeOf(byte(c)) + `yyyyyyyyy"`
			if got := string(appendQuoted(nil, []byte(text))); got != want {
				t.Fatalf("appendQuoted(%q) = %s, want %s", text, got, want)
			}
		}
	}
}

// escapeOf is the table of JSON.stringify (ECMA-262, 25.5.2.3).
func escapeOf(c byte) string {
	switch {
	case c == '"', c == '\\':
		return `\` + string(rune(c))
	case c == '\b':
		return `\b`
	case c == '\t':
		return `\t`
	case c == '\n':
		return `\n`
	case c == '\f':
		return `\f`
	case c == '\r':
		return `\r`
	case c < ' ':
		return `\u00` + strconv.FormatInt(int64(c)+0x100, 16)[1:]
	case c >= utf8.RuneSelf:
		return "\uFFFD"
	}
	return string(rune(c))
}

func TestFloats(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -1: "-1", 0.1: "0.1", 1e6: "1000000",
		1 << 53: "9007199254740992", -(1 << 53): "-9007199254740992", 1e20: "100000000000000000000",
		123456789012345680000: "123456789012345680000", 1e21: "1e+21", 1.5e300: "1.5e+300",
		1e-6: "0.000001", 1e-7: "1e-7", -1.25e-9: "-1.25e-9", 5e-324: "5e-324", math.MaxFloat64: "1.7976931348623157e+308",
	} {
		got, err := appendFloat(nil, f)
		if err != nil || string(got) != want {
			t.Errorf("appendFloat(%v) = %s, %v, want %s", f, got, err, want)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got, err := appendFloat(nil, f); err == nil {
			t.Errorf("appendFloat(%v) = %s, want an error", f, got)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		got, err := appendFloat(nil, f)
		if back, parseErr := strconv.ParseFloat(string(got), 64); err != nil || parseErr != nil || back != f {
			t.Fatalf("appendFloat(%v) = %s, %v, which reads as %v", f, got, err, back)
		}
		if want, _ := json.Marshal(f); string(got) != string(want) {
			t.Fatalf("appendFloat(%v) = %s, want %s", f, got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(anyBytes.Draw(t, "text"))
		want := utf16.Encode([]rune(text))
		if got := Units(text); got != len(want) {
			t.Errorf("Units(%q) = %d, want %d", text, got, len(want))
		}
		if got := Units([]byte(text)); got != len(want) {
			t.Errorf("Units of the bytes %q = %d, want %d", text, got, len(want))
		}
		text = validText(text)
		n := rapid.IntRange(0, len(want)+3).Draw(t, "n")
		from, err := skipUnits(text, n)
		switch {
		case n > len(want):
			if err == nil {
				t.Errorf("skipUnits(%q, %d) = %d of %d units, want an error", text, n, from, len(want))
			}
		case n > 0 && n < len(want) && utf16.IsSurrogate(rune(want[n])) && want[n] >= 0xDC00:
			if err != errSplit {
				t.Errorf("skipUnits(%q, %d) = %d, %v, want %v", text, n, from, err, errSplit)
			}
		case err != nil || text[from:] != string(utf16.Decode(want[n:])):
			t.Errorf("skipUnits(%q, %d) = %d, %v, which leaves %q", text, n, from, err, text[from:])
		}
	})
}
