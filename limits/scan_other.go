//go:build !amd64

package limits

// asciiRun returns the length of the longest prefix of p that is printable ASCII, newline and
// tab, and the newlines in it.
func asciiRun(p []byte) (n, newlines int) { return asciiRunPortable(p) }
