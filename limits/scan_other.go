//go:build !amd64

package limits

func plainBlocks(p []byte) (n, newlines int) { return plainBlocksPortable(p) }
