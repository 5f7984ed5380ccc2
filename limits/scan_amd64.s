#include "textflag.h"

// PLAIN looks at the 16 bytes at offset: X15 keeps the bytes set where all so far were plain, X14
// counts newlines. A byte is printable if, with one added, it is over ' ' as a signed number: so
// 0x7F and what is not ASCII are not.
#define PLAIN(offset) \
	MOVOU   offset(SI), X0 \
	MOVO    X0, X1         \
	PADDB   X8, X1         \
	PCMPGTB X9, X1         \
	MOVO    X0, X2         \
	PCMPEQB X10, X2        \
	PSUBB   X2, X14        \
	POR     X2, X1         \
	PCMPEQB X11, X0        \
	POR     X0, X1         \
	PAND    X1, X15

// FILL sets all bytes of X to those of the constant.
#define FILL(constant, X) \
	MOVQ       $constant, AX \
	MOVQ       AX, X         \
	PUNPCKLQDQ X, X

// func plainBlocks(p []byte) (n, newlines int)
TEXT ·plainBlocks(SB), NOSPLIT, $0-40
	MOVQ p_base+0(FP), SI
	MOVQ p_len+8(FP), DX
	ANDQ $~63, DX
	ADDQ SI, DX // the end of the whole blocks
	MOVQ SI, DI
	FILL(0x0101010101010101, X8)
	FILL(0x2020202020202020, X9)
	FILL(0x0A0A0A0A0A0A0A0A, X10)
	FILL(0x0909090909090909, X11)
	PXOR X12, X12
	PXOR X13, X13 // newlines, in two halves
	JMP  next

block:
	PXOR    X14, X14
	PCMPEQB X15, X15
	PLAIN(0)
	PLAIN(16)
	PLAIN(32)
	PLAIN(48)
	PMOVMSKB X15, AX
	CMPL     AX, $0xFFFF
	JNE      done
	PSADBW   X12, X14 // the sum of each half
	PADDQ    X14, X13
	ADDQ     $64, SI

next:
	CMPQ SI, DX
	JNE  block

done:
	SUBQ   DI, SI
	MOVQ   SI, n+24(FP)
	MOVO   X13, X0
	PSRLDQ $8, X0
	PADDQ  X0, X13
	MOVQ   X13, AX
	MOVQ   AX, newlines+32(FP)
	RET
