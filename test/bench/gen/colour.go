// Colour: what build tools print when they believe in a terminal.

package gen

// paints begin a colour: named, bold, of 256, of 2^24, underlined, reversed, on a background.
var paints = [16]string{
	"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m", "\x1b[35m", "\x1b[36m", "\x1b[1;31m", "\x1b[1;33m",
	"\x1b[38;5;208m", "\x1b[38;5;39m", "\x1b[38;2;255;128;0m", "\x1b[38;2;0;180;90m",
	"\x1b[4;34m", "\x1b[7m", "\x1b[30;43m", "\x1b[97;41m",
}

// plain ends a colour, in its two spellings.
var plain = [2]string{"\x1b[0m", "\x1b[m"}

// appendPainted appends a phrase of a coloured word and one to four plain ones.
func appendPainted(s *source, dst []byte) []byte {
	dst = append(dst, paints[s.pick(4)]...)
	dst = append(dst, s.word()...)
	dst = append(dst, plain[s.pick(1)]...)
	for range 1 + s.pick(2) {
		dst = append(dst, s.word()...)
	}
	return dst
}

// appendColour appends a line of a dim number and two to five phrases.
func appendColour(s *source, dst []byte) []byte {
	dst = append(dst, "\x1b[2m["...)
	dst = appendPadded(dst, s.next(), 6)
	dst = append(dst, "]\x1b[0m"...)
	for range 2 + s.pick(2) {
		dst = append(dst, s.phrase()...)
	}
	return append(dst, '\n')
}
