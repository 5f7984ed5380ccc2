#include "textflag.h"

// PLAIN leaves in P which of the 32 bytes at offset are plain, a bit each, and in N which are newlines.
// A byte is printable if, with one added, it is over ' ' as a signed number: so 0x7F and what is not
// ASCII are not.
#define PLAIN(offset, P, N) \
	VMOVDQU   offset(SI), Y0 \
	VPADDB    Y8, Y0, Y1     \
	VPCMPGTB  Y9, Y1, Y1     \
	VPCMPEQB  Y10, Y0, Y2    \
	VPCMPEQB  Y11, Y0, Y0    \
	VPOR      Y2, Y1, Y1     \
	VPOR      Y0, Y1, Y1     \
	VPMOVMSKB Y1, P          \
	VPMOVMSKB Y2, N

// FILL sets all bytes of Y, of which X is the lower half, to the constant.
#define FILL(constant, X, Y) \
	MOVQ         $constant, AX \
	MOVQ         AX, X         \
	VPBROADCASTB X, Y

// CONSTANTS are what PLAIN compares with.
#define CONSTANTS \
	FILL(1, X8, Y8)       \
	FILL(' ', X9, Y9)     \
	FILL('\n', X10, Y10) \
	FILL('\t', X11, Y11)

// FILL512 is the same for a register of 64 bytes.
#define FILL512(constant, Z) \
	MOVQ         $constant, AX \
	VPBROADCASTB AX, Z

// CONSTANTS512 are what PLAIN512 compares with.
#define CONSTANTS512 \
	FILL512(' ', Z8)      \
	FILL512(0x7F-' ', Z9) \
	FILL512('\n', Z10)   \
	FILL512('\t', Z11)

// PLAIN512 leaves in K1 and K3 together which of the 64 bytes at SI are plain, and in BX which are
// newlines. A byte is printable if it is less than DEL, counted from the space.
#define PLAIN512 \
	VMOVDQU8 (SI), Z0       \
	VPSUBB   Z8, Z0, Z1     \
	VPCMPUB  $1, Z9, Z1, K1 \
	VPCMPEQB Z10, Z0, K2    \
	VPCMPEQB Z11, Z0, K3    \
	KORQ     K1, K2, K1     \
	KMOVQ    K2, BX

// STOP ends the scan of the block at SI: AX has a bit for each plain byte, not all, and BX for each
// newline. R8 counts newlines.
#define STOP \
	NOTQ    AX         \
	TZCNTQ  AX, AX     \
	ADDQ    AX, SI     \
	BZHIQ   AX, BX, BX \
	POPCNTQ BX, BX     \
	ADDQ    BX, R8

// func plainBlocksAVX2(p []byte) (n, newlines int)
TEXT ·plainBlocksAVX2(SB), NOSPLIT, $0-40
	MOVQ p_base+0(FP), SI
	MOVQ p_len+8(FP), DX
	ANDQ $~63, DX
	ADDQ SI, DX        // the end of the whole blocks
	MOVQ SI, DI
	XORQ R8, R8        // newlines
	CONSTANTS
	JMP  next

block:
	PLAIN(0, AX, BX)
	PLAIN(32, R10, R11)
	SHLQ    $32, R10
	SHLQ    $32, R11
	ORQ     R10, AX
	ORQ     R11, BX
	CMPQ    AX, $-1
	JNE     stop
	POPCNTQ BX, BX
	ADDQ    BX, R8
	ADDQ    $64, SI

next:
	CMPQ SI, DX
	JNE  block
	JMP  done

stop:
	STOP

done:
	SUBQ DI, SI
	VZEROUPPER
	MOVQ SI, n+24(FP)
	MOVQ R8, newlines+32(FP)
	RET

// func plainBlocksAVX512(p []byte) (n, newlines int)
TEXT ·plainBlocksAVX512(SB), NOSPLIT, $0-40
	MOVQ p_base+0(FP), SI
	MOVQ p_len+8(FP), DX
	ANDQ $~63, DX
	ADDQ SI, DX   // the end of the whole blocks
	MOVQ SI, DI
	XORQ R8, R8   // newlines
	CONSTANTS512
	JMP  next

block:
	PLAIN512
	KORTESTQ K1, K3
	JCC      stop    // not all bits are set
	POPCNTQ  BX, BX
	ADDQ     BX, R8
	ADDQ     $64, SI

next:
	CMPQ SI, DX
	JNE  block
	JMP  done

stop:
	KORQ  K1, K3, K1
	KMOVQ K1, AX
	STOP

done:
	SUBQ DI, SI
	VZEROUPPER
	MOVQ SI, n+24(FP)
	MOVQ R8, newlines+32(FP)
	RET

// func plainMaskAVX2(p *byte) (plain, newlines uint64)
TEXT ·plainMaskAVX2(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	CONSTANTS
	PLAIN(0, AX, BX)
	PLAIN(32, R10, R11)
	SHLQ $32, R10
	SHLQ $32, R11
	ORQ  R10, AX
	ORQ  R11, BX
	VZEROUPPER
	MOVQ AX, plain+8(FP)
	MOVQ BX, newlines+16(FP)
	RET

// func plainMaskAVX512(p *byte) (plain, newlines uint64)
TEXT ·plainMaskAVX512(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	CONSTANTS512
	PLAIN512
	KORQ  K1, K3, K1
	KMOVQ K1, AX
	VZEROUPPER
	MOVQ  AX, plain+8(FP)
	MOVQ  BX, newlines+16(FP)
	RET
