package main

import "fmt"

// The transform's butterflies on eight lanes of 64 bits.
//
// Between two passes an element is two signed digits, the low and the high 32 bits of its
// word, of value low + 2^32 high. Within a pass it is two registers l and h of value
// l + 2^32 h, which add and subtract with neither carry nor reduction, and on which the
// eighth roots of unity are shifts: 2^48 is a fourth root, w = 2^24 an eighth one, and
// since 2^64 = 2^32 - 1, 2^32 times (l, h) is (-h, l + h).
//
// A twiddle t is four signed digits, those of t and of 2^32 t, so that the product with
// (a0, a1) is a0 t + a1 (2^32 t): four multiplications and no carry between them. Two
// products add up to less than 2^63: the tables have no twiddle that could make more.
//
// Instructions on vectors in a middle pass to reversed order, three levels on eight
// registers: seven products of 13, the butterfly with 64, eight words of 11, and 4: 247,
// of which 59 are shifts, for port 0 alone. Two ports: 124 cycles. The inner pass has 308
// with its transpositions, from reversed order they are 324 and 372, as a product that
// follows the butterfly needs words on both sides. Radix 2 on reduced words has twelve
// products of 24 and twelve sums and differences of 8: 384.
//
// AVX2 has four lanes and half the registers: passes of radix 4, constants in memory, and
// three instructions for a shift by 32 that keeps the sign: 144 for two levels on four
// registers, on three ports 48 cycles.

// strided returns the address of vector k of up to eight that are R9 bytes apart. R10 is 3 R9, SI
// is DI + 4 R9.
func strided(k int) string {
	return [...]string{"(DI)", "(SI)"}[k/4] + [...]string{"", "(R9*1)", "(R9*2)", "(R10*1)"}[k%4]
}

func (w *nttWriter) stride() {
	w.op("MOVQ", "stride+8(FP)", "R9")
	w.op("SHLQ", "$3", "R9")
	w.op("LEAQ", "(R9)(R9*2)", "R10")
	w.op("LEAQ", "(DI)(R9*4)", "SI")
}

func (w *nttWriter) next() {
	step := fmt.Sprintf("$%d", w.bytes())
	w.op("ADDQ", step, "DI")
	w.op("ADDQ", step, "SI")
	w.op("SUBQ", step, "CX")
	w.op("JNZ", "loop")
}

func (w *nttWriter) label(name string) { fmt.Fprintf(w, "%s:\n", name) }

func (w *nttWriter) end() { fmt.Fprint(w, "\tVZEROUPPER\n\tRET\n") }

// ordered calls f with each of x and its index in memory. From reversed to natural order the
// transform is the same with both its ends renamed, since its matrix is symmetric.
func ordered(x []nttPair, toReversed bool, f func(k int, x *nttPair)) {
	orders := map[int][]int{2: {0, 1}, 4: {0, 2, 1, 3}, 8: {0, 4, 2, 6, 1, 5, 3, 7}}
	for i := range x {
		if toReversed {
			f(i, &x[i])
		} else {
			k := orders[len(x)][i]
			f(i, &x[k])
		}
	}
}

// outer writes the pass with the largest stride, whose twiddles are all 1. To reversed order it is
// the first pass, from canonical words to digits; from reversed order it is the last, the other
// way.
func (w *nttWriter) outer(radix int, toReversed bool) {
	w.function(fmt.Sprintf("nttOuter%d", radix), toReversed, "x *Element, stride int", "16")
	w.op("MOVQ", "x+0(FP)", "DI")
	w.stride()
	w.constants()
	w.op("MOVQ", "R9", "CX")
	w.label("loop")
	x := w.pairs(radix)
	ordered(x, toReversed, func(k int, x *nttPair) {
		w.load(x.l, strided(k))
		if toReversed {
			w.fromWord(*x)
		} else {
			w.fromDigits(*x)
		}
	})
	if toReversed {
		w.bias(x[0])
	}
	w.transform(x)
	ordered(x, toReversed, func(k int, x *nttPair) {
		w.word(*x)
		if toReversed {
			w.digits(*x)
		} else {
			w.canonical(*x)
		}
		w.store(strided(k), x.l)
	})
	w.next()
	w.end()
}

// middle writes a pass from digits to digits whose blocks have a row of twiddles each. To reversed
// order the twiddles come before the butterfly, from reversed order after it.
func (w *nttWriter) middle(toReversed bool) {
	w.function("nttMiddle", toReversed, "x *Element, stride, blocks int, rows *uint64", "32")
	w.op("MOVQ", "x+0(FP)", "DI")
	w.stride()
	w.op("MOVQ", "blocks+16(FP)", "DX")
	w.op("MOVQ", "rows+24(FP)", "R8")
	w.constants()
	w.label("block")
	w.op("MOVQ", "R9", "CX")
	w.label("loop")
	x := w.pairs(w.lanes)
	ordered(x, toReversed, func(k int, x *nttPair) {
		if toReversed && k > 0 {
			w.load(w.temp(0), strided(k))
			w.op("VMOVSHDUP", strided(k), w.temp(1))
			w.product(*x, w.temp(0), w.temp(1), w.broadcast(k))
			w.narrow(*x)
		} else {
			w.load(x.l, strided(k))
			w.fromDigits(*x)
		}
	})
	w.bias(x[0])
	w.transform(x)
	ordered(x, toReversed, func(k int, x *nttPair) {
		w.word(*x)
		w.digits(*x)
		if !toReversed && k > 0 {
			w.times(*x, w.broadcast(k))
		}
		w.store(strided(k), x.l)
	})
	w.next()
	// The next block is further by all strides except the one that is done.
	w.op("LEAQ", w.pick("(R10)(R9*4)", "(R10)"), "AX")
	w.op("ADDQ", "AX", "DI")
	w.op("ADDQ", "AX", "SI")
	w.op("ADDQ", fmt.Sprintf("$%d", 2*w.bytes()), "R8")
	w.op("DECQ", "DX")
	w.op("JNZ", "block")
	w.end()
}

// inner writes the pass of stride 1, on groups of as many blocks as there are lanes. To reversed
// order it is the last pass, from digits to canonical words; from reversed order it is the first,
// the other way.
func (w *nttWriter) inner(toReversed bool) {
	w.function("nttInner", toReversed, "x *Element, groups int, twiddles *uint64", "24")
	w.op("MOVQ", "x+0(FP)", "DI")
	w.op("MOVQ", "groups+8(FP)", "DX")
	w.op("MOVQ", "twiddles+16(FP)", "R8")
	w.constants()
	w.label("loop")
	x := w.pairs(w.lanes)
	// In memory is block after block; in register k is the k-th element of all blocks.
	inMemory := func(f func(address string, x *nttPair)) {
		for k := range x {
			f(fmt.Sprintf("%d(DI)", w.bytes()*k), &x[k])
		}
	}
	inMemory(func(address string, x *nttPair) { w.load(x.l, address) })
	w.transpose(x)
	y := make([]nttPair, w.lanes)
	reorder := func(dst, src []nttPair) {
		ordered(src, toReversed, func(k int, x *nttPair) { dst[k] = *x })
	}
	reorder(y, x)
	for k := range y {
		switch {
		case !toReversed:
			w.fromWord(y[k])
		case k == 0:
			w.fromDigits(y[k])
		default:
			w.op("VMOVSHDUP", y[k].l, w.temp(1))
			w.product(y[k], y[k].l, w.temp(1), w.lanewise(k))
			w.narrow(y[k])
		}
	}
	if !toReversed {
		w.bias(y[0])
	}
	w.transform(y)
	reorder(x, y)
	for k := range x {
		w.word(x[k])
		switch {
		case toReversed:
			w.canonical(x[k])
		default:
			w.digits(x[k])
			if k > 0 {
				w.times(x[k], w.lanewise(k))
			}
		}
	}
	w.transpose(x)
	inMemory(func(address string, x *nttPair) { w.store(address, x.l) })
	w.op("ADDQ", fmt.Sprintf("$%d", w.bytes()*w.lanes), "DI")
	w.op("ADDQ", fmt.Sprintf("$%d", 2*w.bytes()*(w.lanes-1)), "R8")
	w.op("DECQ", "DX")
	w.op("JNZ", "loop")
	w.end()
}

// nttAMD64 returns the file with the transform's kernels.
func nttAMD64() []byte {
	w := new(nttWriter)
	w.WriteString("// Code generated by goldilocks/internal/gen. DO NOT EDIT.\n\n//go:build !purego\n\n#include \"textflag.h\"\n")
	w.data()
	for _, lanes := range []int{4, 8} {
		w.lanes = lanes
		for _, toReversed := range []bool{true, false} {
			for radix := 2; radix <= lanes; radix *= 2 {
				w.outer(radix, toReversed)
			}
			w.middle(toReversed)
			w.inner(toReversed)
		}
	}
	return []byte(w.String())
}
