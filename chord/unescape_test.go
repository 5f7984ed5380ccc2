// Escaped text, read: each way against a byte at a time.

package chord

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// escapedText generates long texts as they stand in JSON, some of which must not.
var escapedText = rapid.Custom(func(t *rapid.T) []byte {
	part := rapid.SampledFrom([]string{
		`\n`, `\n`, `\t`, `\r`, `\"`, `\\`, `\\\\\n`, `\/`, `\b\f`, `\u00e9`, `\ud83d\ude00`, "é", "😀",
		"x", "some output", strings.Repeat("a longer line ", 9), strings.Repeat("x", 63), strings.Repeat("x", 64),
	})
	odd := rapid.SampledFrom([]string{`\q`, `\u12`, `\ud800`, "\x01", "\xff", "\n"})
	parts := rapid.SliceOfN(part, 1, 60).Draw(t, "parts")
	if rapid.IntRange(0, 4).Draw(t, "odd") == 0 {
		parts = slices.Insert(parts, rapid.IntRange(0, len(parts)).Draw(t, "at"), odd.Draw(t, "part"))
	}
	return []byte(strings.Join(parts, ""))
})

// unescapeBytes is unescape a byte at a time, and as far as it can come.
func unescapeBytes(raw []byte) (text []byte, in int) {
	for in < len(raw) {
		c := raw[in]
		if c == '\\' && in+1 < len(raw) && unescaped[raw[in+1]] != 0 {
			text = append(text, unescaped[raw[in+1]])
			in += 2
			continue
		}
		if !isPlain(c) {
			break
		}
		text = append(text, c)
		in++
	}
	return text, in
}

// TestUnescape: what was written is what the bytes read so far stand for, nothing is written
// beyond dst, and what is left is short or begins with what unescape leaves to others.
func TestUnescape(t *testing.T) {
	ways := map[string]func(dst, raw []byte) (out, in int){"words": unescapeWords, "as it is used": unescape}
	rapid.Check(t, func(t *rapid.T) {
		raw := escapedText.Draw(t, "raw")
		room := rapid.SampledFrom([]int{0, 7, 8, 63, 64, 100, len(raw) - 1, len(raw)}).Draw(t, "room")
		for name, way := range ways {
			guarded := bytes.Repeat([]byte{'#'}, room+100)
			dst := guarded[:room:room]
			out, in := way(dst, raw)
			want, all := unescapeBytes(raw[:in])
			if all != in || !bytes.Equal(dst[:out], want) {
				t.Fatalf("%s: %q gave %q for the first %d bytes, which stand for %q", name, raw, dst[:out], in, want)
			}
			if i := bytes.IndexFunc(guarded[room:], func(r rune) bool { return r != '#' }); i >= 0 {
				t.Fatalf("%s: %q wrote %d bytes beyond %d", name, raw, i+1, room)
			}
			if _, more := unescapeBytes(raw[in:]); more > 0 && len(raw)-in >= 9 && room-out >= 8 {
				t.Fatalf("%s: %q stopped at %q, with room for %d", name, raw, raw[in:], room-out)
			}
		}
	})
}

// TestReadText compares strings with encoding/json, which takes more than is allowed here.
func TestReadText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := escapedText.Draw(t, "raw")
		quoted := slices.Concat([]byte{'"'}, raw, []byte{'"'})
		got, err := parse(quoted, 0)
		var want string
		theirs := json.Unmarshal(quoted, &want)
		strict := bytes.ContainsRune(raw, '\xff') || bytes.Contains(raw, []byte(`\ud800`)) || bytes.Contains(raw, []byte("\xff"))
		switch {
		case (theirs != nil || strict) != (err != nil):
			t.Fatalf("%q: error %v, want one as %v", quoted, err, theirs)
		case err == nil && got != want:
			t.Fatalf("%q is %q, want %q", quoted, got, want)
		}
	})
}
