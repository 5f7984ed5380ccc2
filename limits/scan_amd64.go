package limits

import "golang.org/x/sys/cpu"

var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512BW
)

// asciiRun returns the length of the longest prefix of p that is printable ASCII, newline and
// tab, and the newlines in it.
func asciiRun(p []byte) (n, newlines int) {
	switch {
	case hasAVX512:
		n, newlines = plainBlocksAVX512(p)
	case hasAVX2:
		n, newlines = plainBlocksAVX2(p)
	default:
		return asciiRunPortable(p)
	}
	return asciiRunFrom(p, n, newlines)
}

// plainBlocksAVX2 is asciiRun for the whole blocks of p, on processors with AVX2: 20 GB/s where the
// portable one has 3.3 to 4.7.
//
//go:noescape
func plainBlocksAVX2(p []byte) (n, newlines int)

// plainBlocksAVX512 is plainBlocksAVX2 for processors with AVX-512BW: 40 GB/s.
//
//go:noescape
func plainBlocksAVX512(p []byte) (n, newlines int)

// plainMask has a bit for each byte of p's first block that is printable ASCII, newline or tab, and
// one for each newline.
func plainMask(p []byte) (plain, newlines uint64) {
	_ = p[blockSize-1]
	switch {
	case hasAVX512:
		return plainMaskAVX512(&p[0])
	case hasAVX2:
		return plainMaskAVX2(&p[0])
	}
	return plainMaskPortable(p)
}

// plainMaskAVX2 is plainMask for processors with AVX2.
//
//go:noescape
func plainMaskAVX2(p *byte) (plain, newlines uint64)

// plainMaskAVX512 is plainMask for processors with AVX-512BW.
//
//go:noescape
func plainMaskAVX512(p *byte) (plain, newlines uint64)
