//go:build linux

package main

import "testing"

func TestBytesFlag(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1500": 1500, "64KiB": 64 << 10, "512MiB": 512 << 20, "4GiB": 4 << 30, "2TiB": 2 << 40} {
		var b bytesFlag
		if err := b.Set(text); err != nil || int64(b) != want || b.String() != text {
			t.Errorf("%q: %d, %v, shown as %q, want %d and the same text", text, b, err, b.String(), want)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "4GB", "4 GiB", "1.5GiB", "9223372036854775808", "9007199254740993KiB"} {
		if err := new(bytesFlag).Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
