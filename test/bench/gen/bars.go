// Bars: megabytes of output of which a person sees a handful of lines.

package gen

const (
	framesPerBar = 101 // 0 to 100 per cent
	barsPerLine  = 4   // bars that overwrite one another before a newline keeps the last
	barWidth     = 50  // characters between the brackets
)

const (
	filled = "=================================================="
	empty  = "                                                  "
)

// appendFrame appends "\r 42% [=====     ] fetch index decode read", and a newline after the
// last frame of every fourth bar.
func appendFrame(s *source, dst []byte) []byte {
	n := s.next()
	percent := n % framesPerBar
	done := int(percent) * barWidth / 100
	dst = append(dst, '\r')
	dst = appendPadded(dst, percent, 3)
	dst = append(dst, "% ["...)
	dst = append(dst, filled[:done]...)
	dst = append(dst, empty[done:]...)
	dst = append(dst, ']')
	dst = append(dst, s.phrase()...)
	if n%(framesPerBar*barsPerLine) == framesPerBar*barsPerLine-1 {
		dst = append(dst, '\n')
	}
	return dst
}
