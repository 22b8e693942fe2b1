package main

import "fmt"

// Registers of the permutations that exchange bits of the indices of lanes and registers: two for each bit.
const exchanges = 21

// transform writes the lowest layers of transforms, on blocks of 256 elements, which are sixteen registers. An index of an
// element has four bits for the register and four for the lane. Layers of the lane's bits are computed after
// exchanging lanes and registers. transform also writes layers on vectors whose factors belong to blocks.
func transform() []byte {
	out := newWriter()
	for layers := 1; layers <= maxLayers; layers++ {
		out.butterflies(fmt.Sprintf("first%d", 1<<layers), layers, ofFirst)
	}
	out.butterflies("split16", maxLayers, ofBlocks)
	out.blocks("evaluate", func() {
		out.exchange()
		out.layers(maxLayers, ofFirst, inOrder, out.scalar)
		out.exchange()
		out.layers(maxLayers, ofRows, inOrder, out.vector)
	})
	out.blocks("interpolate", func() {
		out.layers(maxLayers, ofBlocks, reversed, out.scalar)
		out.exchange()
		out.layers(maxLayers, ofRows, reversed, out.vector)
		out.exchange()
	})
	return out.Bytes()
}

// blocks writes a function that works on one block of 256 elements after the other. The factors of the next block are
// step bytes further.
func (out *writer) blocks(name string, body func()) {
	line := out.line
	fmt.Fprintf(out, "// func %[1]sAVX512(values, factors *Element, exchange *[2 * MaxLayers][lanes]uint32, blocks, step int)\nTEXT ·%[1]sAVX512(SB), NOSPLIT, $0-40\n", name)
	line("MOVQ values+0(FP), DI\n\tMOVQ factors+8(FP), DX\n\tMOVQ exchange+16(FP), SI\n\tMOVQ blocks+24(FP), CX\n\tMOVQ step+32(FP), BX")
	out.constants()
	for i := range 2 * maxLayers {
		line("VMOVDQU32 %d(SI), Z%d", 64*i, exchanges+i)
	}
	out.label("block")
	for i := range 16 {
		line("VMOVDQU32 %d(DI), Z%d", 64*i, i)
	}
	body()
	for i := range 16 {
		line("VMOVDQU32 Z%d, %d(DI)", i, 64*i)
	}
	line("ADDQ $1024, DI\n\tADDQ BX, DX\n\tDECQ CX\n\tJNZ block\n\tVZEROUPPER\n\tRET\n")
}

// scalar and vector load factors: fifteen of one element, padded to sixteen, then fifteen of sixteen elements.
func (out *writer) scalar(i int) { out.line("VPBROADCASTD %d(DX), Z%d", 4*i, w) }
func (out *writer) vector(i int) { out.line("VMOVDQU32 %d(DX), Z%d", 64+64*i, w) }

// exchange transposes the matrix whose rows are the registers from 0 to 15. For each bit, it exchanges the bit of the
// register's index with that of the lane's.
func (out *writer) exchange() {
	for bit := range maxLayers {
		for low := range 16 {
			if high := low | 1<<bit; high != low {
				out.line("VMOVDQA32 Z%d, Z%d", low, w)
				out.line("VPERMT2D Z%d, Z%d, Z%d", high, exchanges+2*bit, low)
				out.line("VPERMT2D Z%d, Z%d, Z%d", w, exchanges+2*bit+1, high)
			}
		}
	}
}
