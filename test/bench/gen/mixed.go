// Mixed: text in many scripts with damage in it.

package gen

// pieces are what a mixed line is made of. What one piece begins the next may end: the
// tables say what goes in, not what a decoder finds.
var pieces = [64]string{
	// one byte
	"plain ", "text ", "of ", "one byte ", "0123456789 ", "a", "b", "{}[]() ", "key=value ", "/usr/lib ", "x ", "~",
	// two bytes
	"é", "ß", "größer ", "naïve ", "Ωμέγα ", "привет ", "שלום ", "سلام ", "¿", "ñ ", "ž", "µs ",
	// three bytes
	"€", "漢字", "日本語 ", "한국어 ", "ไทย ", "हिन्दी ", "→ ", "│", "├── ", "…", "\u200b", "\ufeff",
	// four bytes
	"😀", "🚀 ", "𝔘𝔫𝔦", "🏳️‍🌈", "𐍈", "👩‍👩‍👧 ",
	// never valid: bytes without a meaning, a stray continuation, a sequence cut short, an overlong
	// form, half a surrogate pair, beyond the last code point
	"\xff", "\xfe\xfe", "\xbf", "\xa0\xa1", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xf0\x9f", "\xc0\xaf",
	"\xe0\x80\xaf", "\xed\xa0\xbd", "\xf4\x90\x80\x80", "\xf5\xa0", "\xe2(\xa1",
	// C0 controls
	"\t", "\t\t", "\a", "\b", "\v", "\f", "\x01", "\x7f",
}

// appendPieces appends a phrase of 1 to 16 pieces.
func appendPieces(s *source, dst []byte) []byte {
	for range 1 + s.pick(4) {
		dst = append(dst, pieces[s.pick(6)]...)
	}
	return dst
}

// appendMixed appends a line of a number and 1 to 8 phrases.
func appendMixed(s *source, dst []byte) []byte {
	dst = appendPadded(dst, s.next(), 8)
	dst = append(dst, ' ')
	for range 1 + s.pick(3) {
		dst = append(dst, s.phrase()...)
	}
	return append(dst, '\n')
}
