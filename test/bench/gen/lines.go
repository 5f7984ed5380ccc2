// Lines and OneLine: a log.

package gen

// lineLength is the characters of a line before its newline, all of one byte.
const lineLength = 99

var levels = [8]string{
	" INFO  worker-", " INFO  worker-", " INFO  worker-", " DEBUG worker-",
	" DEBUG worker-", " TRACE worker-", " WARN  worker-", " ERROR worker-",
}

func appendLine(s *source, dst []byte) []byte { return append(appendLog(s, dst), '\n') }

func appendSentence(s *source, dst []byte) []byte { return append(appendLog(s, dst), ' ') }

// appendLog appends lineLength characters such as
// "0000000042 INFO  worker-07 compile package offset=4096 ...".
func appendLog(s *source, dst []byte) []byte {
	end := len(dst) + lineLength
	dst = appendPadded(dst, s.next(), 10)
	dst = append(dst, levels[s.pick(3)]...)
	dst = appendPadded(dst, uint64(s.pick(5)), 2)
	for len(dst) < end {
		dst = append(dst, s.phrase()...)
	}
	return dst[:end]
}
