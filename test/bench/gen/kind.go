// The kinds of input and their names.

package gen

import (
	"fmt"
	"slices"
	"strings"
)

// A Kind names what an input looks like.
type Kind string

// The kinds.
const (
	Lines   Kind = "lines"   // log-like lines of 99 characters and a newline, numbered from 0
	OneLine Kind = "oneline" // the same text with a blank for every newline
	Colour  Kind = "colour"  // build-log lines with SGR sequences of 8, 256 and 2^24 colours
	Bars    Kind = "bars"    // progress bars: frames that begin with CR, a newline after every fourth bar
	Mixed   Kind = "mixed"   // UTF-8 of 1 to 4 bytes, invalid sequences and C0 controls, no NUL or ESC
)

// A recipe says how an input of a kind is put together. Phrases are made once per Reader,
// records of phrases are made for ever: measured four times as fast as records of words.
type recipe struct {
	phrase func(s *source, dst []byte) []byte
	record func(s *source, dst []byte) []byte
}

var recipes = map[Kind]recipe{
	Lines:   {appendWords, appendLine},
	OneLine: {appendWords, appendSentence},
	Colour:  {appendPainted, appendColour},
	Bars:    {appendWords, appendFrame},
	Mixed:   {appendPieces, appendMixed},
}

// Kinds returns all kinds, in the order in which they are reported.
func Kinds() []Kind { return []Kind{Lines, OneLine, Colour, Bars, Mixed} }

// ParseKind returns the kind of that name.
func ParseKind(name string) (Kind, error) {
	if kinds := Kinds(); !slices.Contains(kinds, Kind(name)) {
		return "", fmt.Errorf("gen: unknown kind %q: use one of %s", name, strings.Trim(fmt.Sprint(kinds), "[]"))
	}
	return Kind(name), nil
}
