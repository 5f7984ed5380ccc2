package limits

func init() {
	if hasAVX2 {
		asciiRunForms["AVX2"] = func(p []byte) (int, int) {
			n, newlines := plainBlocksAVX2(p)
			return asciiRunFrom(p, n, newlines)
		}
	}
	if hasAVX512 {
		asciiRunForms["AVX-512"] = func(p []byte) (int, int) {
			n, newlines := plainBlocksAVX512(p)
			return asciiRunFrom(p, n, newlines)
		}
	}
}
