// Tests of sizes as text.

package main

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSizeSet(t *testing.T) {
	tests := []struct {
		text string
		want size // 0: an error
	}{
		{"1", 1}, {"1000000", 1_000_000}, {"3KiB", 3 << 10}, {"64MiB", 64 << 20}, {"1GiB", 1 << 30},
		{"", 0}, {"0", 0}, {"-1", 0}, {"1GB", 0}, {"1.5GiB", 0}, {"GiB", 0}, {"9999999999GiB", 0},
	}
	for _, tt := range tests {
		var got size
		err := got.Set(tt.text)
		if got != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("Set(%q) = %d, %v, want %d", tt.text, got, err, tt.want)
		}
	}
}

func TestSizeString(t *testing.T) {
	for s, want := range map[size]string{1: "1", 1023: "1023", 1024: "1KiB", 1 << 30: "1GiB", 3 << 29: "1536MiB"} {
		if got := s.String(); got != want {
			t.Errorf("size %d is shown as %q, want %q", int64(s), got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := size(rapid.Int64Range(1, 1<<50).Draw(t, "size"))
		var got size
		if err := got.Set(want.String()); err != nil || got != want {
			t.Fatalf("%d is shown as %q and read as %d, %v", int64(want), want, int64(got), err)
		}
	})
}
