#include "textflag.h"

// PLAIN looks at the 32 bytes at offset: Y15 keeps the bytes set where all so far were plain, Y14
// counts newlines. A byte is printable if, with one added, it is over ' ' as a signed number: so
// 0x7F and what is not ASCII are not.
#define PLAIN(offset) \
	VMOVDQU  offset(SI), Y0 \
	VPADDB   Y8, Y0, Y1     \
	VPCMPGTB Y9, Y1, Y1     \
	VPCMPEQB Y10, Y0, Y2    \
	VPSUBB   Y2, Y14, Y14   \
	VPCMPEQB Y11, Y0, Y0    \
	VPOR     Y2, Y1, Y1     \
	VPOR     Y0, Y1, Y1     \
	VPAND    Y1, Y15, Y15

// FILL sets all bytes of Y, of which X is the lower half, to the constant.
#define FILL(constant, X, Y) \
	MOVQ         $constant, AX \
	MOVQ         AX, X         \
	VPBROADCASTB X, Y

// func plainBlocksAVX2(p []byte) (n, newlines int)
TEXT ·plainBlocksAVX2(SB), NOSPLIT, $0-40
	MOVQ  p_base+0(FP), SI
	MOVQ  p_len+8(FP), DX
	ANDQ  $~63, DX
	ADDQ  SI, DX        // the end of the whole blocks
	MOVQ  SI, DI
	FILL(1, X8, Y8)
	FILL(' ', X9, Y9)
	FILL('\n', X10, Y10)
	FILL('\t', X11, Y11)
	VPXOR Y12, Y12, Y12
	VPXOR Y13, Y13, Y13 // newlines, in four parts
	JMP   next

block:
	VPXOR     Y14, Y14, Y14
	VPCMPEQB  Y15, Y15, Y15
	PLAIN(0)
	PLAIN(32)
	VPMOVMSKB Y15, AX
	CMPL      AX, $-1
	JNE       done
	VPSADBW   Y12, Y14, Y14 // the sum of each part
	VPADDQ    Y14, Y13, Y13
	ADDQ      $64, SI

next:
	CMPQ SI, DX
	JNE  block

done:
	SUBQ         DI, SI
	MOVQ         SI, n+24(FP)
	VEXTRACTI128 $1, Y13, X0
	VPADDQ       X0, X13, X13
	VPSRLDQ      $8, X13, X0
	VPADDQ       X0, X13, X13
	MOVQ         X13, AX
	VZEROUPPER
	MOVQ         AX, newlines+32(FP)
	RET
