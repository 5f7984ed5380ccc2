package main

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestParseKeys(t *testing.T) {
	for text, want := range map[string]string{
		"":                "",
		"ctrl-p,ctrl-q":   "\x10\x11",
		"ctrl-],d":        "\x1dd",
		"Ctrl-P":          "\x10",
		"~,.":             "~.",
		"ctrl-@,ctrl-_":   "\x00\x1f",
		"a,b,c,d,e,f,g,h": "abcdefgh",
	} {
		if got, err := parseKeys(text); err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{",", "ab", "ctrl-", "ctrl-pq", "ctrl-1", "ctrl-é", "é", "\n", "a,b,c,d,e,f,g,h,i"} {
		if got, err := parseKeys(text); err == nil {
			t.Errorf("%q: got %q, want an error", text, got)
		}
	}
}

// TestDetector: however the typing is cut, the keys are found where they first are, and what
// was typed before them is passed on.
func TestDetector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]byte("ab"))
		keys := rapid.SliceOfN(letters, 0, 4).Draw(t, "keys")
		typed := rapid.SliceOfN(letters, 0, 30).Draw(t, "typed")
		at := -1
		if len(keys) > 0 {
			at = bytes.Index(typed, keys)
		}
		d := detector{keys: keys}
		var got []byte
		found := false
		for rest := typed; len(rest) > 0 && !found; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			var input []byte
			input, found = d.next(rest[:n])
			got = append(got, input...)
			rest = rest[n:]
		}
		want := typed
		if at >= 0 {
			want = typed[:at]
		} else {
			got = append(got, d.held...)
		}
		if found != (at >= 0) || !bytes.Equal(got, want) {
			t.Fatalf("%q in %q: found %v, passed on %q, want %q", keys, typed, found, got, want)
		}
	})
}
