//go:build !amd64

package limits

// asciiRun returns the length of the longest prefix of p that is printable ASCII, newline and
// tab, and the newlines in it.
func asciiRun(p []byte) (n, newlines int) { return asciiRunPortable(p) }

// plainMask has a bit for each byte of p's first block that is printable ASCII, newline or tab, and
// one for each newline.
func plainMask(p []byte) (plain, newlines uint64) { return plainMaskPortable(p) }
