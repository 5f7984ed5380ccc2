package limits

func init() {
	if hasAVX2 {
		plainMaskForms["AVX2"] = func(p []byte) (uint64, uint64) { return plainMaskAVX2(&p[0]) }
		asciiRunForms["AVX2"] = func(p []byte) (int, int) {
			n, newlines := plainBlocksAVX2(p)
			return asciiRunFrom(p, n, newlines)
		}
	}
	if hasAVX512 {
		plainMaskForms["AVX-512"] = func(p []byte) (uint64, uint64) { return plainMaskAVX512(&p[0]) }
		asciiRunForms["AVX-512"] = func(p []byte) (int, int) {
			n, newlines := plainBlocksAVX512(p)
			return asciiRunFrom(p, n, newlines)
		}
	}
}
