package main

import "fmt"

// pack writes the sum of vectors, each weighted twice as much as the one before, for sixteen rows at a time.
func pack() []byte {
	out := newWriter()
	line := out.line
	fmt.Fprint(out, "// func packAVX512(dst *Element, last *[]Element, n, count int)\nTEXT ·packAVX512(SB), NOSPLIT, $0-32\n")
	line("MOVQ dst+0(FP), DI\n\tMOVQ last+8(FP), SI\n\tMOVQ n+16(FP), CX\n\tMOVQ count+24(FP), BX")
	line("MOVL $%d, AX\n\tVPBROADCASTD AX, Z%d", modulus, p)
	line("XORL R11, R11")
	out.label("rows")
	line("MOVQ SI, R8\n\tMOVQ BX, R9\n\tVPXORD Z0, Z0, Z0")
	out.label("vector")
	line("MOVQ (R8), R10")
	line("VPADDD Z0, Z0, Z0")
	out.less(0, 7)
	line("VPADDD (R10)(R11*1), Z0, Z0")
	out.less(0, 7)
	line("SUBQ $24, R8\n\tDECQ R9\n\tJNZ vector")
	line("VMOVDQU32 Z0, (DI)(R11*1)")
	line("ADDQ $64, R11\n\tSUBQ $16, CX\n\tJNZ rows\n\tVZEROUPPER\n\tRET\n")
	return out.Bytes()
}
