//go:build !purego

#include "textflag.h"

// A pass has 96 instructions. Vector instructions only write their destinations, so none waits
// for another. Instructions on general registers change twelve registers in turn, so twelve
// instructions are independent. That is more than can start in the three cycles of the slowest,
// IMULQ. The two sources differ, because a processor knows the difference of a register and
// itself without a subtraction.

#define TWELVE_R(OP) \
	OP R14, AX; OP R14, BX; OP R14, DX; OP R14, SI; \
	OP R14, DI; OP R14, R8; OP R14, R9; OP R14, R10; \
	OP R14, R11; OP R14, R12; OP R14, R13; OP R14, R15

#define PASS_R(OP) \
	TWELVE_R(OP); TWELVE_R(OP); TWELVE_R(OP); TWELVE_R(OP); \
	TWELVE_R(OP); TWELVE_R(OP); TWELVE_R(OP); TWELVE_R(OP)

#define TWELVE_Y(OP) \
	OP Y15, Y14, Y0; OP Y15, Y14, Y1; OP Y15, Y14, Y2; OP Y15, Y14, Y3; \
	OP Y15, Y14, Y4; OP Y15, Y14, Y5; OP Y15, Y14, Y6; OP Y15, Y14, Y7; \
	OP Y15, Y14, Y8; OP Y15, Y14, Y9; OP Y15, Y14, Y10; OP Y15, Y14, Y11

#define PASS_Y(OP) \
	TWELVE_Y(OP); TWELVE_Y(OP); TWELVE_Y(OP); TWELVE_Y(OP); \
	TWELVE_Y(OP); TWELVE_Y(OP); TWELVE_Y(OP); TWELVE_Y(OP)

#define TWELVE_Z(OP) \
	OP Z15, Z14, Z0; OP Z15, Z14, Z1; OP Z15, Z14, Z2; OP Z15, Z14, Z3; \
	OP Z15, Z14, Z4; OP Z15, Z14, Z5; OP Z15, Z14, Z6; OP Z15, Z14, Z7; \
	OP Z15, Z14, Z8; OP Z15, Z14, Z9; OP Z15, Z14, Z10; OP Z15, Z14, Z11

#define PASS_Z(OP) \
	TWELVE_Z(OP); TWELVE_Z(OP); TWELVE_Z(OP); TWELVE_Z(OP); \
	TWELVE_Z(OP); TWELVE_Z(OP); TWELVE_Z(OP); TWELVE_Z(OP)

// The chain computes Fibonacci numbers: each sum is an operand of the next. Processors that
// rename registers can avoid moves and additions of immediates. But a sum of two registers needs
// an adder, and its latency is one cycle.
#define SIX_SUMS \
	ADDQ AX, BX; ADDQ BX, AX; ADDQ AX, BX; ADDQ BX, AX; ADDQ AX, BX; ADDQ BX, AX

#define PASS_CHAIN \
	SIX_SUMS; SIX_SUMS; SIX_SUMS; SIX_SUMS; \
	SIX_SUMS; SIX_SUMS; SIX_SUMS; SIX_SUMS; \
	SIX_SUMS; SIX_SUMS; SIX_SUMS; SIX_SUMS; \
	SIX_SUMS; SIX_SUMS; SIX_SUMS; SIX_SUMS

// SOURCES sets the registers A and B, from which vector instructions read.
#define SOURCES(A, B) \
	MOVQ $0x9e3779b97f4a7c15, AX; VMOVQ AX, X14; VPBROADCASTQ X14, A; \
	MOVQ $0xbf58476d1ce4e5b9, AX; VMOVQ AX, X15; VPBROADCASTQ X15, B

// func chain(passes int)
TEXT ·chain(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	MOVQ $1, AX
	MOVQ $1, BX
	TESTQ CX, CX
	JLE done

loop:
	PASS_CHAIN
	DECQ CX
	JNZ loop

done:
	RET

// func addScalar(passes int)
TEXT ·addScalar(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	MOVQ $0x9e3779b97f4a7c15, R14
	TESTQ CX, CX
	JLE done

loop:
	PASS_R(ADDQ)
	DECQ CX
	JNZ loop

done:
	RET

// func subScalar(passes int)
TEXT ·subScalar(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	MOVQ $0x9e3779b97f4a7c15, R14
	TESTQ CX, CX
	JLE done

loop:
	PASS_R(SUBQ)
	DECQ CX
	JNZ loop

done:
	RET

// func mulScalar(passes int)
TEXT ·mulScalar(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	MOVQ $0x9e3779b97f4a7c15, R14
	TESTQ CX, CX
	JLE done

loop:
	PASS_R(IMULQ)
	DECQ CX
	JNZ loop

done:
	RET

// func addAVX2(passes int)
TEXT ·addAVX2(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	SOURCES(Y14, Y15)
	TESTQ CX, CX
	JLE done

loop:
	PASS_Y(VPADDQ)
	DECQ CX
	JNZ loop

done:
	VZEROUPPER
	RET

// func subAVX2(passes int)
TEXT ·subAVX2(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	SOURCES(Y14, Y15)
	TESTQ CX, CX
	JLE done

loop:
	PASS_Y(VPSUBQ)
	DECQ CX
	JNZ loop

done:
	VZEROUPPER
	RET

// func mulAVX2(passes int)
TEXT ·mulAVX2(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	SOURCES(Y14, Y15)
	TESTQ CX, CX
	JLE done

loop:
	PASS_Y(VPMULUDQ)
	DECQ CX
	JNZ loop

done:
	VZEROUPPER
	RET

// func addAVX512(passes int)
TEXT ·addAVX512(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	SOURCES(Z14, Z15)
	TESTQ CX, CX
	JLE done

loop:
	PASS_Z(VPADDQ)
	DECQ CX
	JNZ loop

done:
	VZEROUPPER
	RET

// func subAVX512(passes int)
TEXT ·subAVX512(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	SOURCES(Z14, Z15)
	TESTQ CX, CX
	JLE done

loop:
	PASS_Z(VPSUBQ)
	DECQ CX
	JNZ loop

done:
	VZEROUPPER
	RET

// func mulAVX512(passes int)
TEXT ·mulAVX512(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	SOURCES(Z14, Z15)
	TESTQ CX, CX
	JLE done

loop:
	PASS_Z(VPMULUDQ)
	DECQ CX
	JNZ loop

done:
	VZEROUPPER
	RET

// func mulloAVX512(passes int)
TEXT ·mulloAVX512(SB), NOSPLIT, $0-8
	MOVQ passes+0(FP), CX
	SOURCES(Z14, Z15)
	TESTQ CX, CX
	JLE done

loop:
	PASS_Z(VPMULLQ)
	DECQ CX
	JNZ loop

done:
	VZEROUPPER
	RET
