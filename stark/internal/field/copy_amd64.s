//go:build !purego

#include "textflag.h"

// The vector that comes AHEAD later is prefetched. SLICE is the size of a slice.
#define AHEAD 8
#define SLICE 24

// func copyAVX512(dst, src unsafe.Pointer, count, bytes int)
TEXT ·copyAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ count+16(FP), BX
	MOVQ bytes+24(FP), CX

vector:
	MOVQ (DI), R8
	MOVQ (SI), R9
	MOVQ R9, R10
	CMPQ BX, $AHEAD
	JLE  last
	MOVQ (AHEAD*SLICE)(SI), R10

last:
	XORL AX, AX

row:
	PREFETCHT0 (R10)(AX*1)
	VMOVDQU64  (R9)(AX*1), Z0
	VMOVDQU64  Z0, (R8)(AX*1)
	ADDQ       $64, AX
	CMPQ       AX, CX
	JB         row
	ADDQ       $SLICE, DI
	ADDQ       $SLICE, SI
	DECQ       BX
	JNZ        vector
	VZEROUPPER
	RET
