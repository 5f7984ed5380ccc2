package limits

import "golang.org/x/sys/cpu"

func init() {
	if cpu.X86.HasAVX2 {
		plainBlocksForms["AVX2"] = plainBlocksAVX2
	}
	if cpu.X86.HasAVX512BW {
		plainBlocksForms["AVX-512"] = plainBlocksAVX512
	}
}
