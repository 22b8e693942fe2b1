package main

import "fmt"

// dots writes, for extensions of degree 4 and 6, the sums of a vector's products with that many others, for
// thirty-two rows at a time. As in products, there are sums of even and of odd elements, in eight lanes each.
// The caller reduces them. Sixteen rows of the vector take nine instructions for each of the others.
func dots() []byte {
	out := newWriter()
	line := out.line
	const limit, sums, even, odd = 31, 8, 4, 5 // registers: p 2^32 in each lane, the first sum, others' elements
	for _, degree := range []int{4, 6} {
		fmt.Fprintf(out, "// func dots%[1]dAVX512(sums *uint64, a *Element, b *[]Element, rows int)\nTEXT ·dots%[1]dAVX512(SB), NOSPLIT, $0-32\n", degree)
		line("MOVQ sums+0(FP), DI\n\tMOVQ a+8(FP), SI\n\tMOVQ b+16(FP), DX\n\tMOVQ rows+24(FP), CX")
		line("MOVL $%d, AX\n\tVPBROADCASTD AX, Z%d\n\tVPSLLQ $32, Z%[2]d, Z%[2]d", modulus, limit)
		line("XORL R11, R11")
		for i := range 2 * degree {
			line("VPXORQ Z%[1]d, Z%[1]d, Z%[1]d", sums+i)
		}
		out.label("rows")
		for i := range 2 {
			line("VMOVDQU32 %d(SI)(R11*1), Z%d", 64*i, 2*i)
			line("VPSRLQ $32, Z%d, Z%d", 2*i, 2*i+1)
		}
		for k := range degree {
			line("MOVQ %d(DX), R8", 24*k)
			for i := range 2 {
				line("VMOVDQU32 %d(R8)(R11*1), Z%d", 64*i, even)
				line("VPSRLQ $32, Z%d, Z%d", even, odd)
				for half, r := range []int{even, odd} {
					line("VPMULUDQ Z%d, Z%d, Z%[2]d", 2*i+half, r)
					line("VPADDQ Z%d, Z%[2]d, Z%[2]d", r, sums+2*k+half)
				}
			}
			for half, r := range []int{even, odd} {
				line("VPSUBQ Z%d, Z%d, Z%d", limit, sums+2*k+half, r)
				line("VPMINUQ Z%d, Z%[2]d, Z%[2]d", r, sums+2*k+half)
			}
		}
		line("ADDQ $128, R11\n\tSUBQ $32, CX\n\tJNZ rows")
		for i := range 2 * degree {
			line("VMOVDQU64 Z%d, %d(DI)", sums+i, 64*i)
		}
		line("VZEROUPPER\n\tRET\n")
	}
	return out.Bytes()
}
