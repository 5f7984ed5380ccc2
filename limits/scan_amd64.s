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

// FILL512 is the same for a register of 64 bytes.
#define FILL512(constant, Z) \
	MOVQ         $constant, AX \
	VPBROADCASTB AX, Z

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

// func plainBlocksAVX512(p []byte) (n, newlines int)
TEXT ·plainBlocksAVX512(SB), NOSPLIT, $0-40
	MOVQ p_base+0(FP), SI
	MOVQ p_len+8(FP), DX
	ANDQ $~63, DX
	ADDQ SI, DX   // the end of the whole blocks
	MOVQ SI, DI
	XORQ R8, R8   // newlines
	FILL512(' ', Z8)
	FILL512(0x7F-' ', Z9)
	FILL512('\n', Z10)
	FILL512('\t', Z11)
	JMP  next

block:
	VMOVDQU8 (SI), Z0
	VPSUBB   Z8, Z0, Z1
	VPCMPUB  $1, Z9, Z1, K1 // printable: less than DEL, counted from the space
	VPCMPEQB Z10, Z0, K2
	VPCMPEQB Z11, Z0, K3
	KORQ     K1, K2, K1
	KORTESTQ K1, K3
	JCC      done           // not all bits are set
	KMOVQ    K2, AX
	POPCNTQ  AX, AX
	ADDQ     AX, R8
	ADDQ     $64, SI

next:
	CMPQ SI, DX
	JNE  block

done:
	SUBQ DI, SI
	VZEROUPPER
	MOVQ SI, n+24(FP)
	MOVQ R8, newlines+32(FP)
	RET
