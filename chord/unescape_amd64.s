#include "textflag.h"

// func unescapeBlocks(dst, raw []byte, letters *[256]byte) (out, in int)
//
// The block is in Z0, its backslashes are in AX and the letters after them in BX, a bit for each
// byte. Letters become what they stand for, by a table of 128, and the bytes that are no
// backslashes move together.
TEXT ·unescapeBlocks(SB), NOSPLIT, $0-72
	MOVQ         dst_base+0(FP), DI
	MOVQ         dst_len+8(FP), R8
	MOVQ         raw_base+24(FP), SI
	MOVQ         raw_len+32(FP), R9
	MOVQ         letters+48(FP), AX
	VMOVDQU64    (AX), Z10
	VMOVDQU64    64(AX), Z11
	MOVQ         $'\\', AX
	VPBROADCASTB AX, Z12
	MOVQ         $' ', AX
	VPBROADCASTB AX, Z13
	VPXORQ       Z14, Z14, Z14
	LEAQ         -64(DI)(R8*1), R8 // the last places for a block in dst
	LEAQ         -64(SI)(R9*1), R9 // and in raw

block:
	CMPQ      SI, R9
	JGT       done
	CMPQ      DI, R8
	JGT       done
	VMOVDQU64 (SI), Z0
	VPCMPB    $1, Z13, Z0, K1 // less than ' ', signed: control characters and what is not ASCII
	KORTESTQ  K1, K1
	JNE       done
	VPCMPEQB  Z12, Z0, K1
	KMOVQ     K1, AX
	TESTQ     AX, AX
	JNE       escapes
	VMOVDQU64 Z0, (DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	JMP       block

escapes:
	LEAQ          (AX)(AX*1), BX
	TESTQ         AX, BX
	JNE           done
	KMOVQ         BX, K2
	VMOVDQU8      Z0, Z1
	VPERMI2B      Z11, Z10, Z1
	VPCMPEQB      Z14, Z1, K2, K3 // a letter that stands for nothing
	KORTESTQ      K3, K3
	JNE           done
	VMOVDQU8      Z1, K2, Z0
	MOVQ          AX, CX
	SHRQ          $63, CX          // the last byte is a backslash, and its letter in the next block
	NOTQ          AX
	KMOVQ         AX, K4
	VPCOMPRESSB.Z Z0, K4, Z2
	VMOVDQU64     Z2, (DI)
	POPCNTQ       AX, DX
	ADDQ          DX, DI
	ADDQ          $64, SI
	SUBQ          CX, SI
	JMP           block

done:
	VZEROUPPER
	SUBQ dst_base+0(FP), DI
	MOVQ DI, out+56(FP)
	SUBQ raw_base+24(FP), SI
	MOVQ SI, in+64(FP)
	RET
