package main

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/arith/step"
)

// one is 1 in Montgomery form: 2^32 modulo p.
const one = 1<<32 - 2*modulus

// steps writes a function that runs steps on registers, for sixteen rows at a time, and one that multiplies a
// vector by an element. A product of a factor below
// 2^32 and one of at most p is below p 2^32, and Montgomery's reduction brings it below 2 p. As in products, even
// and odd elements are reduced separately, with six products and six other instructions.
//
// A function for each operation would take longer to call than to run on so few rows that the registers of a
// large program fit in the second-level cache.
func steps() []byte {
	out := newWriter()
	line := out.line
	const plusOne = 29 // register: p + 1, in each dword
	multiply := func() {
		line("VPSRLQ $32, Z2, Z4")
		line("VPSRLQ $32, Z3, Z5")
		line("VPMULUDQ Z3, Z2, Z3")
		line("VPMULUDQ Z5, Z4, Z2")
		out.reduce(3, 2, 6)
		out.less(2, 7)
	}
	fmt.Fprint(out, "// func stepsAVX512(registers *[]Element, steps *step.Step, rows, count int)\nTEXT ·stepsAVX512(SB), NOSPLIT, $0-32\n")
	line("MOVQ registers+0(FP), DI\n\tMOVQ steps+8(FP), SI\n\tMOVQ rows+16(FP), CX\n\tMOVQ count+24(FP), BX")
	out.constants()
	line("MOVL $%d, AX\n\tVPBROADCASTD AX, Z%d", modulus+one, plusOne)
	line("SHLQ $2, CX")
	out.label("step")
	line("MOVL (SI), AX")
	for i, r := range []string{"R8", "R9", "R10"} { // the vectors of the result and of both operands
		line("MOVL %d(SI), %s\n\tLEAQ (%[2]s)(%[2]s*2), %[2]s\n\tMOVQ (DI)(%[2]s*8), %[2]s", 4+4*i, r)
	}
	line("XORL R11, R11")
	for op := range step.Ops {
		line("CMPL AX, $%d\n\tJEQ op%[1]d", op)
	}
	line("UNDEF")
	for op := range step.Ops {
		out.label(fmt.Sprintf("op%d", op))
		line("VMOVDQU32 (R9)(R11*1), Z0\n\tVMOVDQU32 (R10)(R11*1), Z1")
		switch op {
		case step.Add:
			line("VPADDD Z1, Z0, Z2")
			out.less(2, 7)
		case step.Sub:
			line("VPSUBD Z1, Z0, Z2")
			line("VPADDD Z%d, Z2, Z7", p)
			line("VPMINUD Z7, Z2, Z2")
		case step.Mul:
			line("VMOVDQA64 Z0, Z2\n\tVMOVDQA64 Z1, Z3")
			multiply()
		case step.Xor:
			// a + b + 2 a (p - b): 2 a is below 2^32, and p - b is at most p. If it is p, that stands for 0.
			line("VPADDD Z0, Z0, Z3")
			line("VPSUBD Z1, Z%d, Z2", p)
			multiply()
			line("VPADDD Z1, Z0, Z0")
			out.less(0, 7)
			line("VPADDD Z0, Z2, Z2")
			out.less(2, 7)
		case step.AndNot:
			// a (p + 1 - b), the second factor being below 2^32.
			line("VMOVDQA64 Z0, Z2")
			line("VPSUBD Z1, Z%d, Z3", plusOne)
			multiply()
		}
		line("VMOVDQU32 Z2, (R8)(R11*1)")
		line("ADDQ $64, R11\n\tCMPQ R11, CX\n\tJB op%d\n\tADDQ $16, SI\n\tDECQ BX\n\tJNZ step\n\tVZEROUPPER\n\tRET", op)
	}
	out.WriteString("\n")

	fmt.Fprint(out, "// func scaleAVX512(dst, a *Element, factor uint32, rows int)\nTEXT ·scaleAVX512(SB), NOSPLIT, $0-32\n")
	line("MOVQ dst+0(FP), DI\n\tMOVQ a+8(FP), SI\n\tMOVL factor+16(FP), DX\n\tMOVQ rows+24(FP), CX")
	out.constants()
	line("VPBROADCASTD DX, Z3")
	line("XORL R11, R11")
	out.label("rows")
	line("VMOVDQU32 (SI)(R11*1), Z2")
	line("VPSRLQ $32, Z2, Z4")
	line("VPMULUDQ Z3, Z2, Z5")
	line("VPMULUDQ Z3, Z4, Z2")
	out.reduce(5, 2, 6)
	out.less(2, 7)
	line("VMOVDQU32 Z2, (DI)(R11*1)")
	line("ADDQ $64, R11\n\tSUBQ $16, CX\n\tJNZ rows\n\tVZEROUPPER\n\tRET\n")
	return out.Bytes()
}
