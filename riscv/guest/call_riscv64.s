#include "textflag.h"
#include "go_asm.h"

// func ecall(number uintptr, a0 unsafe.Pointer, a1 int) (r0 unsafe.Pointer, r1 int)
TEXT ·ecall(SB), NOSPLIT, $0-40
	MOV	number+0(FP), A7
	MOV	a0+8(FP), A0
	MOV	a1+16(FP), A1
	ECALL
	MOV	A0, r0+24(FP)
	MOV	A1, r1+32(FP)
	RET

// A precompile answers 0; Linux, which has none, an error.
#define DO(number) \
	MOV	$number, A7 \
	ECALL \
	BNEZ	A0, missing \
	RET \
missing: \
	JMP	·missing(SB)

// func MulMod(z, x, y, m *[4]uint64)
TEXT ·MulMod(SB), NOSPLIT, $0-32
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	MOV	y+16(FP), A2
	MOV	m+24(FP), A3
	DO(const_mulMod)

// func FpAdd(z, x, y *[4]uint64)
TEXT ·FpAdd(SB), NOSPLIT, $0-24
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	MOV	y+16(FP), A2
	DO(const_fpAdd)

// func FpSub(z, x, y *[4]uint64)
TEXT ·FpSub(SB), NOSPLIT, $0-24
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	MOV	y+16(FP), A2
	DO(const_fpSub)

// func FpMul(z, x, y *[4]uint64)
TEXT ·FpMul(SB), NOSPLIT, $0-24
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	MOV	y+16(FP), A2
	DO(const_fpMul)

// func Fp2Add(z, x, y *[8]uint64)
TEXT ·Fp2Add(SB), NOSPLIT, $0-24
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	MOV	y+16(FP), A2
	DO(const_fp2Add)

// func Fp2Sub(z, x, y *[8]uint64)
TEXT ·Fp2Sub(SB), NOSPLIT, $0-24
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	MOV	y+16(FP), A2
	DO(const_fp2Sub)

// func Fp2Mul(z, x, y *[8]uint64)
TEXT ·Fp2Mul(SB), NOSPLIT, $0-24
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	MOV	y+16(FP), A2
	DO(const_fp2Mul)

// func G1Add(z, x, y *[8]uint64)
TEXT ·G1Add(SB), NOSPLIT, $0-24
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	MOV	y+16(FP), A2
	DO(const_g1Add)

// func G1Double(z, x *[8]uint64)
TEXT ·G1Double(SB), NOSPLIT, $0-16
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	DO(const_g1Double)

// func keccak256(z *[32]byte, x *byte, n int)
TEXT ·keccak256(SB), NOSPLIT, $0-24
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	MOV	n+16(FP), A2
	DO(const_hashKeccak256)

// func sha256(z *[32]byte, x *byte, n int)
TEXT ·sha256(SB), NOSPLIT, $0-24
	MOV	z+0(FP), A0
	MOV	x+8(FP), A1
	MOV	n+16(FP), A2
	DO(const_hashSHA256)
