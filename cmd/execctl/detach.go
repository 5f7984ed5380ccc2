package main

// This file is the keys that detach from a terminal: a sequence looked for in what is typed.

import (
	"bytes"
	"fmt"
	"strings"
)

// maxDetachKeys bounds the sequence: its beginning is held back until it is complete or not.
const maxDetachKeys = 8

// parseKeys reads a sequence such as "ctrl-p,ctrl-q" or "ctrl-],d".
func parseKeys(text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	var keys []byte
	for name := range strings.SplitSeq(text, ",") {
		key, control := strings.CutPrefix(strings.ToLower(name), "ctrl-")
		if !control {
			key = name
		}
		if len(key) != 1 || key[0] < ' ' || key[0] > '~' || control && (key[0] < '@' || key[0] > '_') && (key[0] < 'a' || key[0] > 'z') {
			return nil, fmt.Errorf(`--detach-keys: %q: give keys such as "a", "ctrl-p" or "ctrl-]", with commas between them`, name)
		}
		if b := key[0]; control {
			keys = append(keys, b&0x1f)
		} else {
			keys = append(keys, b)
		}
	}
	if len(keys) > maxDetachKeys {
		return nil, fmt.Errorf("--detach-keys: %d keys: give at most %d", len(keys), maxDetachKeys)
	}
	return keys, nil
}

// detector looks for keys in what is typed.
type detector struct {
	keys []byte // none if empty
	held []byte // the beginning of keys that was typed
}

// next returns what of the held keys and p is input, and whether all the keys were typed.
func (d *detector) next(p []byte) (input []byte, found bool) {
	if len(d.keys) == 0 {
		return p, false
	}
	for _, key := range p {
		d.held = append(d.held, key)
		for !bytes.HasPrefix(d.keys, d.held) {
			input = append(input, d.held[0])
			d.held = d.held[1:]
		}
		if len(d.held) == len(d.keys) {
			return input, true
		}
	}
	return input, false
}
