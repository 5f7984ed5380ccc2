package main

import (
	"bytes"
	"testing"

	"github.com/execagent/execagent/client"
)

func TestParseLines(t *testing.T) {
	for text, want := range map[string]client.Lines{
		"": {}, "5": {From: 5, To: 5}, "5:9": {From: 5, To: 9}, "5:": {From: 5}, ":9": {To: 9}, "7:7": {From: 7, To: 7},
	} {
		if got, err := parseLines(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{":", "0", "0:5", "5:0", "9:5", "-1:5", "5:-1", "a", "1:b", "1:2:3", "99999999999999999999", " 1"} {
		if got, err := parseLines(text); err == nil {
			t.Errorf("%q: %+v, want an error", text, got)
		}
	}
}

// What commands a terminal is shown instead of passed on.
func TestVisibleWriter(t *testing.T) {
	var b bytes.Buffer
	const text = "a\x1b[31mb\tc\r\n\x00\x7f\x9b é"
	if n, err := (visibleWriter{&b}).Write([]byte(text)); n != len(text) || err != nil {
		t.Errorf("Write of %d bytes: %d, %v", len(text), n, err)
	}
	if got, want := b.String(), `a\x1b[31mb`+"\tc"+`\x0d`+"\n"+`\x00\x7f\x9b é`; got != want {
		t.Errorf("%q is shown as %q, want %q", text, got, want)
	}
}
