package main

import "fmt"

// maxLayers is the maximum number of a transform's layers in one function. With 16 vectors, sixteen rows of
// each fit in a register.
const maxLayers = 4

// butterflies writes layers of a transform on 2, 4, 8 and 16 vectors, for sixteen rows at a time. A butterfly
// is a product, a sum and a difference: 19 instructions, six of them products. The 32 butterflies on 16
// vectors have 192 products, which take at least 192 cycles, and 640 instructions, which take at least 320.
// The vectors are far apart, and the hardware cannot tell that the next rows of each are needed next, so they
// are prefetched.
func butterflies() []byte {
	out := newWriter()
	line := out.line
	const w, wOdd, even, odd, product = 16, 17, 18, 19, 20 // the factor, and what is made of it
	load := func(list string, i, to int) {
		line("MOVQ %d(%s), R8", 24*i, list)
		line("VMOVDQU32 (R8)(R11*1), Z%d", to)
	}
	butterfly := func(x, y int) {
		line("VPSRLQ $32, Z%d, Z%d", y, odd)
		line("VPMULUDQ Z%d, Z%d, Z%d", w, y, even)
		line("VPMULUDQ Z%d, Z%d, Z%[2]d", wOdd, odd)
		out.reduce(even, odd, product)
		out.less(even, product)
		line("VPSUBD Z%d, Z%d, Z%d", even, x, y)
		line("VPADDD Z%d, Z%d, Z%d", p, y, product)
		line("VPMINUD Z%d, Z%[2]d, Z%[2]d", product, y)
		line("VPADDD Z%d, Z%[2]d, Z%[2]d", even, x)
		out.less(x, product)
	}
	for layers := 1; layers <= maxLayers; layers++ {
		n := 1 << layers
		fmt.Fprintf(out, "// func butterflies%[1]dAVX512(dst, src, w *[]Element, rows int)\nTEXT ·butterflies%[1]dAVX512(SB), NOSPLIT, $0-32\n", n)
		line("MOVQ dst+0(FP), DI\n\tMOVQ src+8(FP), SI\n\tMOVQ w+16(FP), DX\n\tMOVQ rows+24(FP), CX")
		out.constants()
		line("XORL R11, R11\n\tLEAQ (CX*4), R9")
		out.label("rows")
		for i := range n {
			load("SI", i, i)
			line("PREFETCHT1 (R8)(R9*1)")
		}
		for half := 1; half < n; half *= 2 {
			for i := range half {
				load("DX", half-1+i, w)
				line("VPSRLQ $32, Z%d, Z%d", w, wOdd)
				for at := i; at < n; at += 2 * half {
					butterfly(at, at+half)
				}
			}
		}
		for i := range n {
			line("MOVQ %d(DI), R8", 24*i)
			line("VMOVDQU32 Z%d, (R8)(R11*1)", i)
		}
		line("ADDQ $64, R11\n\tADDQ $64, R9\n\tSUBQ $16, CX\n\tJNZ rows\n\tVZEROUPPER\n\tRET\n")
	}
	return out.Bytes()
}
