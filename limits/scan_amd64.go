package limits

// plainBlocks returns the length of the longest prefix of p in whole blocks that is printable
// ASCII, newline and tab, and the newlines in it. It needs no more than SSE2, which every amd64 has.
//
//go:noescape
func plainBlocks(p []byte) (n, newlines int)
