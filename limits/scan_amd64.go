package limits

import "golang.org/x/sys/cpu"

// plainBlocks returns the length of the longest prefix of p in whole blocks that is printable
// ASCII, newline and tab, and the newlines in it.
func plainBlocks(p []byte) (n, newlines int) {
	switch {
	case cpu.X86.HasAVX512BW:
		return plainBlocksAVX512(p)
	case cpu.X86.HasAVX2:
		return plainBlocksAVX2(p)
	}
	return plainBlocksPortable(p)
}

// plainBlocksAVX2 is plainBlocks for processors with AVX2: 20 GB/s where the portable one has 3.3 to 4.7.
//
//go:noescape
func plainBlocksAVX2(p []byte) (n, newlines int)

// plainBlocksAVX512 is plainBlocks for processors with AVX-512BW: 40 GB/s.
//
//go:noescape
func plainBlocksAVX512(p []byte) (n, newlines int)
