//go:build !purego

#include "textflag.h"

// A pass has 96 instructions. Most only write their destinations, so none waits for another.
// Predicated instructions change 24 registers in turn, so 24 instructions are independent. That
// is more than can start in the about five cycles of a multiplication. The words are those of
// goldilocks/internal/gen/arm64.

#define TWELVE_R(OP) \
	OP R1, R2, R3; OP R1, R2, R4; OP R1, R2, R5; OP R1, R2, R6; \
	OP R1, R2, R7; OP R1, R2, R8; OP R1, R2, R9; OP R1, R2, R10; \
	OP R1, R2, R11; OP R1, R2, R12; OP R1, R2, R13; OP R1, R2, R14

#define PASS_R(OP) \
	TWELVE_R(OP); TWELVE_R(OP); TWELVE_R(OP); TWELVE_R(OP); \
	TWELVE_R(OP); TWELVE_R(OP); TWELVE_R(OP); TWELVE_R(OP)

// OP is the word of an instruction with destination z0. The destination is in the lowest five bits.
#define ALL_Z(OP) \
	WORD $(OP|0); WORD $(OP|1); WORD $(OP|2); WORD $(OP|3); WORD $(OP|4); WORD $(OP|5); \
	WORD $(OP|6); WORD $(OP|7); WORD $(OP|8); WORD $(OP|9); WORD $(OP|10); WORD $(OP|11); \
	WORD $(OP|12); WORD $(OP|13); WORD $(OP|14); WORD $(OP|15); WORD $(OP|16); WORD $(OP|17); \
	WORD $(OP|18); WORD $(OP|19); WORD $(OP|20); WORD $(OP|21); WORD $(OP|22); WORD $(OP|23)

#define PASS_Z(OP) \
	ALL_Z(OP); ALL_Z(OP); ALL_Z(OP); ALL_Z(OP)

// The chain computes Fibonacci numbers: each sum is an operand of the next, and its latency is one cycle.
#define SIX_SUMS \
	ADD R1, R2; ADD R2, R1; ADD R1, R2; ADD R2, R1; ADD R1, R2; ADD R2, R1

#define PASS_CHAIN \
	SIX_SUMS; SIX_SUMS; SIX_SUMS; SIX_SUMS; \
	SIX_SUMS; SIX_SUMS; SIX_SUMS; SIX_SUMS; \
	SIX_SUMS; SIX_SUMS; SIX_SUMS; SIX_SUMS; \
	SIX_SUMS; SIX_SUMS; SIX_SUMS; SIX_SUMS

#define SOURCES \
	MOVD $0x9e3779b97f4a7c15, R1; \
	MOVD $0xbf58476d1ce4e5b9, R2

// The sources, and all lanes in p7: mov z30.d, x1; mov z31.d, x2; ptrue p7.d.
#define VECTORS \
	SOURCES; WORD $0x05e0383e; WORD $0x05e0385f; WORD $0x25d8e3e7

// func chain(passes int)
TEXT ·chain(SB), NOSPLIT, $0-8
	MOVD passes+0(FP), R0
	MOVD $1, R1
	MOVD $1, R2
	CMP $0, R0
	BLE done

loop:
	PASS_CHAIN
	SUBS $1, R0
	BNE loop

done:
	RET

// func addScalar(passes int)
TEXT ·addScalar(SB), NOSPLIT, $0-8
	MOVD passes+0(FP), R0
	SOURCES
	CMP $0, R0
	BLE done

loop:
	PASS_R(ADD)
	SUBS $1, R0
	BNE loop

done:
	RET

// func subScalar(passes int)
TEXT ·subScalar(SB), NOSPLIT, $0-8
	MOVD passes+0(FP), R0
	SOURCES
	CMP $0, R0
	BLE done

loop:
	PASS_R(SUB)
	SUBS $1, R0
	BNE loop

done:
	RET

// func mulScalar(passes int)
TEXT ·mulScalar(SB), NOSPLIT, $0-8
	MOVD passes+0(FP), R0
	SOURCES
	CMP $0, R0
	BLE done

loop:
	PASS_R(MUL)
	SUBS $1, R0
	BNE loop

done:
	RET

// func addSVE(passes int)
TEXT ·addSVE(SB), NOSPLIT, $0-8
	MOVD passes+0(FP), R0
	VECTORS
	CMP $0, R0
	BLE done

loop:
	PASS_Z(0x04ff03c0) // add zd.d, z30.d, z31.d
	SUBS $1, R0
	BNE loop

done:
	RET

// func subSVE(passes int)
TEXT ·subSVE(SB), NOSPLIT, $0-8
	MOVD passes+0(FP), R0
	VECTORS
	CMP $0, R0
	BLE done

loop:
	PASS_Z(0x04ff07c0) // sub zd.d, z30.d, z31.d
	SUBS $1, R0
	BNE loop

done:
	RET

// func mulSVE(passes int)
TEXT ·mulSVE(SB), NOSPLIT, $0-8
	MOVD passes+0(FP), R0
	VECTORS
	CMP $0, R0
	BLE done

loop:
	PASS_Z(0x04d01fe0) // mul zd.d, p7/m, zd.d, z31.d
	SUBS $1, R0
	BNE loop

done:
	RET

// func mulhiSVE(passes int)
TEXT ·mulhiSVE(SB), NOSPLIT, $0-8
	MOVD passes+0(FP), R0
	VECTORS
	CMP $0, R0
	BLE done

loop:
	PASS_Z(0x04d31fe0) // umulh zd.d, p7/m, zd.d, z31.d
	SUBS $1, R0
	BNE loop

done:
	RET

// func mulSVE2(passes int)
TEXT ·mulSVE2(SB), NOSPLIT, $0-8
	MOVD passes+0(FP), R0
	VECTORS
	CMP $0, R0
	BLE done

loop:
	PASS_Z(0x04ff63c0) // mul zd.d, z30.d, z31.d
	SUBS $1, R0
	BNE loop

done:
	RET

// func mulhiSVE2(passes int)
TEXT ·mulhiSVE2(SB), NOSPLIT, $0-8
	MOVD passes+0(FP), R0
	VECTORS
	CMP $0, R0
	BLE done

loop:
	PASS_Z(0x04ff6fc0) // umulh zd.d, z30.d, z31.d
	SUBS $1, R0
	BNE loop

done:
	RET
