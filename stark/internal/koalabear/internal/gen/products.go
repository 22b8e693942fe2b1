package main

import "fmt"

// products writes, for extensions of degree 4 and 6, the sum of columns of the field, each times an element
// of the extension, for sixteen rows at a time.
//
// A product of two elements is below p² < 2^62. A partial sum is kept below p 2^32. Two more products leave
// it below 2 p 2^32 < 2^64. The smaller of it and it minus p 2^32, which wraps if that is negative, is below
// p 2^32 again. Montgomery's reduction comes once, at the end. Even elements are in the lower dwords of
// lanes, and odd ones are shifted there. In degree 4, sixteen rows of a column take 25 instructions, or 12.5
// cycles: two products and sums for each coordinate, and one reduction for two columns.
func products() []byte {
	out := newWriter()
	line := out.line
	label := out.label
	const limit, sums = 29, 8 // registers: p 2^32 in each lane, the first sum: of even elements, then of odd ones, of each coordinate
	for _, degree := range []int{4, 6} {
		fmt.Fprintf(out, "// func addProducts%[1]dAVX512(dst, columns *[]Element, weights *Element, rows, count int)\n", degree)
		fmt.Fprintf(out, "TEXT ·addProducts%dAVX512(SB), NOSPLIT, $0-40\n", degree)
		line("MOVQ dst+0(FP), DI")
		line("MOVQ columns+8(FP), SI")
		line("MOVQ weights+16(FP), DX")
		line("MOVQ rows+24(FP), CX")
		out.constants()
		line("VPSLLQ $32, Z%d, Z%d", p, limit)
		line("XORL R11, R11")
		label("rows")
		for i := range 2 * degree {
			line("VPXORQ Z%[1]d, Z%[1]d, Z%[1]d", sums+i)
		}
		line("MOVQ SI, R9")
		line("MOVQ DX, R10")
		line("MOVQ count+32(FP), BX")
		// multiply adds the products of one or two columns, at R9 and R10.
		multiply := func(columns int) {
			for c := range columns {
				line("MOVQ %d(R9), R12", 24*c)
				line("VMOVDQU32 (R12)(R11*1), Z%d", 2*c)
				line("PREFETCHT0 128(R12)(R11*1)") // columns are far apart: nothing else knows what comes next
				line("VPSRLQ $32, Z%d, Z%d", 2*c, 2*c+1)
			}
			for k := range degree {
				for c := range columns {
					line("VPBROADCASTD %d(R10), Z4", 4*(degree*c+k))
					for odd := range 2 {
						line("VPMULUDQ Z4, Z%d, Z%d", 2*c+odd, 5+odd)
						line("VPADDQ Z%[1]d, Z%[2]d, Z%[2]d", 5+odd, sums+2*k+odd)
					}
				}
				for odd := range 2 {
					line("VPSUBQ Z%d, Z%d, Z%d", limit, sums+2*k+odd, 5+odd)
					line("VPMINUQ Z%[1]d, Z%[2]d, Z%[2]d", 5+odd, sums+2*k+odd)
				}
			}
		}
		line("SUBQ $2, BX")
		line("JL last")
		label("pairs")
		multiply(2)
		line("ADDQ $48, R9")
		line("ADDQ $%d, R10", 8*degree)
		line("SUBQ $2, BX")
		line("JGE pairs")
		label("last")
		line("CMPQ BX, $-1")
		line("JNE reduce")
		multiply(1)
		label("reduce")
		for k := range degree {
			even, odd := sums+2*k, sums+2*k+1
			out.reduce(even, odd, 5)
			out.less(odd, 5)
			line("MOVQ %d(DI), R12", 24*k)
			line("VPADDD (R12)(R11*1), Z%[1]d, Z%[1]d", odd)
			out.less(odd, 5)
			line("VMOVDQU32 Z%d, (R12)(R11*1)", odd)
		}
		line("ADDQ $64, R11")
		line("SUBQ $16, CX")
		line("JNZ rows")
		line("VZEROUPPER")
		line("RET")
		out.WriteString("\n")
	}
	return out.Bytes()
}
