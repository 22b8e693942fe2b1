package main

import (
	"fmt"
	"math/bits"
)

// maxLayers is the maximum number of a transform's layers in one function. With 16 vectors, sixteen rows of
// each fit in a register.
const maxLayers = 4

// butterflies writes layers of a transform on 2, 4, 8 and 16 vectors, for sixteen rows at a time. A butterfly
// is a product, a sum and a difference: 18 instructions, six of them products. The 32 butterflies on 16
// vectors have 192 products, which take at least 192 cycles, and 608 instructions, which take at least 304.
// The vectors are far apart, and the hardware cannot tell that the next rows of each are needed next, so they
// are prefetched.
func butterflies() []byte {
	out := newWriter()
	for layers := 1; layers <= maxLayers; layers++ {
		out.butterflies(fmt.Sprintf("butterflies%d", 1<<layers), layers, ofRows)
	}
	return out.Bytes()
}

// factors says which factors the butterflies of some layers have.
type factors int

const (
	ofRows   factors = iota // each row has its own
	ofBlocks                // all rows have the same
	ofFirst                 // all rows have the same, and the first factor of each layer is 1
)

// Registers of a butterfly: the factor and its odd dwords, then scratch.
const w, wOdd, even, odd, temp = 16, 17, 18, 19, 20

// butterflies writes a function for layers on vectors. If factors belong to blocks, the first element of each of their
// vectors is read.
func (out *writer) butterflies(name string, layers int, kind factors) {
	line := out.line
	n := 1 << layers
	fmt.Fprintf(out, "// func %[1]sAVX512(dst, src, w *[]Element, rows int)\nTEXT ·%[1]sAVX512(SB), NOSPLIT, $0-32\n", name)
	line("MOVQ dst+0(FP), DI\n\tMOVQ src+8(FP), SI\n\tMOVQ w+16(FP), DX\n\tMOVQ rows+24(FP), CX")
	out.constants()
	line("XORL R11, R11\n\tLEAQ (CX*4), R9")
	out.label("rows")
	for i := range n {
		line("MOVQ %d(SI), R8\n\tVMOVDQU32 (R8)(R11*1), Z%d\n\tPREFETCHT1 (R8)(R9*1)", 24*i, i)
	}
	out.layers(layers, kind, inOrder, func(i int) {
		line("MOVQ %d(DX), R8", 24*i)
		if kind == ofRows {
			line("VMOVDQU32 (R8)(R11*1), Z%d", w)
		} else {
			line("VPBROADCASTD (R8), Z%d", w)
		}
	})
	for i := range n {
		line("MOVQ %d(DI), R8\n\tVMOVDQU32 Z%d, (R8)(R11*1)", 24*i, i)
	}
	line("ADDQ $64, R11\n\tADDQ $64, R9\n\tSUBQ $16, CX\n\tJNZ rows\n\tVZEROUPPER\n\tRET\n")
}

// inOrder and reversed return the register that holds element i of sixteen.
func inOrder(i int) int  { return i }
func reversed(i int) int { return int(bits.Reverse8(uint8(i)) >> 4) }

// layers writes layers of butterflies on registers. load loads a factor, which are counted over all layers.
func (out *writer) layers(layers int, kind factors, register func(i int) int, load func(i int)) {
	for half := 1; half < 1<<layers; half *= 2 {
		for i := range half {
			one, shifted := kind == ofFirst && i == 0, w
			if !one {
				load(half - 1 + i)
			}
			if kind == ofRows {
				shifted = wOdd
				out.line("VPSRLQ $32, Z%d, Z%d", w, wOdd)
			}
			for at := i; at < 1<<layers; at += 2 * half {
				x, y := register(at), register(at+half)
				if one {
					out.sumAndDifference(x, y, y)
				} else {
					out.butterfly(x, y, shifted)
				}
			}
		}
	}
}

// butterfly replaces registers x and y by x + w y and x - w y.
func (out *writer) butterfly(x, y, wOdd int) {
	out.line("VPSRLQ $32, Z%d, Z%d", y, odd)
	out.line("VPMULUDQ Z%d, Z%d, Z%d", w, y, even)
	out.line("VPMULUDQ Z%d, Z%d, Z%[2]d", wOdd, odd)
	out.reduce(even, odd, temp)
	out.less(odd, temp)
	out.sumAndDifference(x, y, odd)
}

// sumAndDifference replaces register x by x + z, and y by x - z. z may be y.
func (out *writer) sumAndDifference(x, y, z int) {
	out.line("VPSUBD Z%d, Z%d, Z%d", z, x, even)
	out.line("VPADDD Z%d, Z%d, Z%[2]d", z, x)
	out.less(x, temp)
	out.line("VPADDD Z%d, Z%d, Z%d", p, even, temp)
	out.line("VPMINUD Z%d, Z%d, Z%d", temp, even, y)
}
