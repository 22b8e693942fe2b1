package main

import "fmt"

// one is 1 in Montgomery form: 2^32 modulo p.
const one = 1<<32 - 2*modulus

// bits writes the arithmetic of bits, for sixteen rows at a time. A product of a factor below 2^32 and one of
// at most p is below p 2^32, and Montgomery's reduction brings it below 2 p. As in products, even and odd
// elements are reduced separately, with six products and six other instructions.
func bits() []byte {
	out := newWriter()
	line := out.line
	const unit = 29 // register: p or p + 1, in each dword
	broadcast := func(value uint32, to int) {
		line("MOVL $%d, AX", value)
		line("VPBROADCASTD AX, Z%d", to)
	}
	// multiply sets Z2 to the product of Z2, at most p, and Z3.
	multiply := func() {
		line("VPSRLQ $32, Z2, Z4")
		line("VPSRLQ $32, Z3, Z5")
		line("VPMULUDQ Z3, Z2, Z2")
		line("VPMULUDQ Z5, Z4, Z4")
		out.reduce(2, 4, 6)
		out.less(2, 7)
	}
	pairs := func(name string, unitValue uint32, body func()) {
		fmt.Fprintf(out, "// func %[1]sAVX512(dst, a, b *Element, n int)\nTEXT ·%[1]sAVX512(SB), NOSPLIT, $0-32\n", name)
		line("MOVQ dst+0(FP), DI\n\tMOVQ a+8(FP), SI\n\tMOVQ b+16(FP), DX\n\tMOVQ n+24(FP), CX")
		broadcast(modulus, p)
		broadcast(modulus-2, q) // -1/p: p (p - 2) + 1 = (p - 1)², a multiple of 2^48
		broadcast(unitValue, unit)
		line("MOVL $0xaaaa, AX\n\tKMOVW AX, K1")
		line("XORL R11, R11")
		out.label("rows")
		line("VMOVDQU32 (SI)(R11*1), Z0\n\tVMOVDQU32 (DX)(R11*1), Z1")
		body()
		line("VMOVDQU32 Z2, (DI)(R11*1)")
		line("ADDQ $64, R11\n\tSUBQ $16, CX\n\tJNZ rows\n\tVZEROUPPER\n\tRET\n")
	}
	pairs("xor", modulus, func() {
		// a + b + 2 a (p - b): 2 a is below 2^32, and p - b is at most p. If it is p, that stands for 0.
		line("VPADDD Z0, Z0, Z3")
		line("VPSUBD Z1, Z%d, Z2", unit)
		multiply()
		line("VPADDD Z1, Z0, Z0")
		out.less(0, 7)
		line("VPADDD Z0, Z2, Z2")
		out.less(2, 7)
	})
	pairs("andNot", modulus+one, func() {
		// a (p + 1 - b), the second factor being below 2^32.
		line("VMOVDQA64 Z0, Z2")
		line("VPSUBD Z1, Z%d, Z3", unit)
		multiply()
	})
	fmt.Fprint(out, "// func packAVX512(dst *Element, last *[]Element, n, count int)\nTEXT ·packAVX512(SB), NOSPLIT, $0-32\n")
	line("MOVQ dst+0(FP), DI\n\tMOVQ last+8(FP), SI\n\tMOVQ n+16(FP), CX\n\tMOVQ count+24(FP), BX")
	broadcast(modulus, p)
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
