package main

import (
	"fmt"
	"strings"
)

// nttConstant is a constant in every lane. With AVX-512 it is in a register.
type nttConstant struct {
	name     string
	value    uint64
	register int
}

var (
	nttOne   = nttConstant{"One", 1, 26}
	nttPrime = nttConstant{"Prime", 1<<64 - 1<<32 + 1, 27}
	nttSign  = nttConstant{"Sign", 1<<63 + 1<<31, 29}
	nttBias  = nttConstant{"Bias", 1 << 31, 30}
	nttLow   = nttConstant{"Low", 1<<32 - 1, 31}

	// For AVX2's comparison, which is signed.
	nttTop   = nttConstant{"Top", 1 << 63, -1}
	nttBelow = nttConstant{"Below", 1<<63 - 1<<32, -1} // p - 1 without its top bit

	nttConstants = []nttConstant{nttOne, nttPrime, nttSign, nttBias, nttLow, nttTop, nttBelow}
)

// nttPair is a number l + 2^32 h in each lane.
type nttPair struct{ l, h string }

// nttWriter writes instructions in the order of Go's assembler, the destination last.
type nttWriter struct {
	strings.Builder
	lanes int     // and radix: 8 with AVX-512, 4 with AVX2
	spare nttPair // a pair that holds nothing
}

func (w *nttWriter) avx512() bool { return w.lanes == 8 }

// pick returns its first argument for AVX-512 and its second for AVX2.
func (w *nttWriter) pick(avx512, avx2 string) string {
	if w.avx512() {
		return avx512
	}
	return avx2
}

func (w *nttWriter) register(i int) string { return fmt.Sprintf("%s%d", w.pick("Z", "Y"), i) }

func (w *nttWriter) pairs(n int) []nttPair {
	x := make([]nttPair, n)
	for i := range x {
		x[i] = nttPair{w.register(i), w.register(w.lanes + i)}
	}
	return x
}

// temp returns register i of four that belong to no pair.
func (w *nttWriter) temp(i int) string { return w.register(2*w.lanes + 2 + i) }

// digit returns register i of two for the digits of twiddles, and for high.
func (w *nttWriter) digit(i int) string { return w.register(2*w.lanes + 6 + i) }

func (w *nttWriter) constant(c nttConstant) string {
	if w.avx512() {
		return w.register(c.register)
	}
	return "ntt" + c.name + "<>(SB)"
}

// bytes returns the size of a vector.
func (w *nttWriter) bytes() int { return 8 * w.lanes }

func (w *nttWriter) op(name string, operands ...string) {
	fmt.Fprintf(w, "\t%s %s\n", name, strings.Join(operands, ", "))
}

func (w *nttWriter) add(dst, a, b string)      { w.op("VPADDQ", b, a, dst) }
func (w *nttWriter) sub(dst, a, b string)      { w.op("VPSUBQ", b, a, dst) }
func (w *nttWriter) left(dst, a string, n int) { w.op("VPSLLQ", fmt.Sprintf("$%d", n), a, dst) }
func (w *nttWriter) and(dst, a string, c nttConstant) {
	w.op(w.pick("VPANDQ", "VPAND"), w.constant(c), a, dst)
}

func (w *nttWriter) xor(dst, a string, c nttConstant) {
	w.op(w.pick("VPXORQ", "VPXOR"), w.constant(c), a, dst)
}
func (w *nttWriter) load(dst, address string) { w.op(w.pick("VMOVDQU64", "VMOVDQU"), address, dst) }
func (w *nttWriter) store(address, a string)  { w.op(w.pick("VMOVDQU64", "VMOVDQU"), a, address) }

// high sets dst to floor(a / 2^32), signed.
func (w *nttWriter) high(dst, a string) {
	if w.avx512() {
		w.op("VPSRAQ", "$32", a, dst)
		return
	}
	w.op("VPSRAD", "$31", a, w.digit(0))
	w.op("VPSHUFD", "$0xf5", a, dst)
	w.op("VPBLENDD", "$0xaa", w.digit(0), dst, dst)
}

func (w *nttWriter) function(name string, toReversed bool, params, frame string) {
	direction := "From"
	if toReversed {
		direction = "To"
	}
	name += direction + w.pick("AVX512", "AVX2")
	fmt.Fprintf(w, "\n// func %s(%s)\nTEXT ·%s(SB), NOSPLIT, $0-%s\n", name, params, name, frame)
	w.spare = nttPair{w.register(2 * w.lanes), w.register(2*w.lanes + 1)}
}

// both sets (a, b) to (a + b, a - b).
func (w *nttWriter) both(a, b *nttPair) {
	t := &w.spare
	w.add(t.l, a.l, b.l)
	w.add(t.h, a.h, b.h)
	w.sub(b.l, a.l, b.l)
	w.sub(b.h, a.h, b.h)
	*a, *t = *t, *a
}

// bothFourth sets (a, b) to (a + 2^48 b, a - 2^48 b).
func (w *nttWriter) bothFourth(a, b *nttPair) {
	t := &w.spare
	w.add(t.l, b.l, b.h)
	w.left(t.h, b.h, 16)
	w.left(t.l, t.l, 16)
	// 2^48 b is (-t.h, t.l).
	w.add(b.l, a.l, t.h)
	w.sub(b.h, a.h, t.l)
	w.sub(a.l, a.l, t.h)
	w.add(a.h, a.h, t.l)
}

// transform sets x[r], of 2, 4 or 8, to the sum over k of x[k] W^(k rev(r)). rev reverses bits, and
// W is the root of unity of that order which is a power of the domain's: -1, 2^48, or 2^120 = w^5.
//
// For inputs below 2^34 in absolute value, l + h of a difference is below 2^36, shifted by 24 at
// most. Two such numbers and two of 2^52 are added, which is below 2^62.
func (w *nttWriter) transform(x []nttPair) {
	switch len(x) {
	case 2:
		w.both(&x[0], &x[1])
	case 4:
		w.both(&x[0], &x[2])
		w.both(&x[1], &x[3])
		w.both(&x[0], &x[1])
		w.bothFourth(&x[2], &x[3])
	case 8:
		for k := range 4 {
			w.both(&x[k], &x[k+4])
		}
		w.both(&x[0], &x[2])
		w.both(&x[1], &x[3])
		w.both(&x[0], &x[1])       // powers 0 and 4 of w
		w.bothFourth(&x[2], &x[3]) // 2 and 6
		w.odd(&x[4], &x[5], &x[6], &x[7])
	}
}

// odd sets the differences b0..b3 to the transform at the powers 5, 1, 7, 3 of w, which
// are 1, 5, 3, 7 of W: b0 + w^2 b2 -+ (w b1 + w^3 b3) and b0 - w^2 b2 -+ (w^3 b1 + w b3).
func (w *nttWriter) odd(b0, b1, b2, b3 *nttPair) {
	w.bothFourth(b0, b2)
	t := &w.spare
	u := nttPair{w.temp(0), w.temp(1)}
	v := nttPair{w.temp(2), w.temp(3)}
	// w (l, h) = 2^8 (2^16 l, 2^16 h) and w^3 (l, h) = 2^8 (-l - h, l).
	w.add(t.l, b3.l, b3.h)
	w.add(t.h, b1.l, b1.h)
	w.left(u.l, b1.l, 16)
	w.left(u.h, b1.h, 16)
	w.left(v.l, b3.l, 16)
	w.left(v.h, b3.h, 16)
	w.sub(u.l, u.l, t.l)
	w.add(u.h, u.h, b3.l)
	w.sub(v.l, v.l, t.h)
	w.add(v.h, v.h, b1.l)
	for _, r := range []string{u.l, u.h, v.l, v.h} {
		w.left(r, r, 8)
	}
	w.add(b1.l, b0.l, u.l)
	w.add(b1.h, b0.h, u.h)
	w.sub(b0.l, b0.l, u.l)
	w.sub(b0.h, b0.h, u.h)
	w.add(b3.l, b2.l, v.l)
	w.add(b3.h, b2.h, v.h)
	w.sub(b2.l, b2.l, v.l)
	w.sub(b2.h, b2.h, v.h)
}

// bias adds 2^63 + 2^31. On the first input of a transform it biases every output.
func (w *nttWriter) bias(x nttPair) {
	w.add(x.l, x.l, w.constant(nttBias))
	w.add(x.h, x.h, w.constant(nttBias))
}

// word sets x.l to the 64-bit number l + 2^32 h modulo p, for l and h below 2^62 in absolute value.
//
// It subtracts p m, with m = h1 + k, h = h0 + 2^32 h1, k = floor(V / 2^64) for V = (l - h1) + 2^32
// (h0 + h1), which is the number less p h1. V is between -2^63 and 2^64 + 2^63, so k is -1, 0 or 1,
// and V - p k = (V mod 2^64) + k (2^32 - 1) fits in 64 bits: V mod 2^64 is below 2^63 for k = 1,
// and at least 2^63 for k = -1.
func (w *nttWriter) word(x nttPair) {
	m, c := w.temp(2), w.temp(3)
	w.high(m, x.h)
	w.sub(c, x.l, m)
	w.high(c, c)
	w.add(m, m, x.h)
	w.add(m, m, c)
	w.high(m, m)
	w.sub(x.l, x.l, m)
	w.add(x.h, x.h, m)
	w.left(x.h, x.h, 32)
	w.add(x.l, x.l, x.h)
}

// digits turns a biased number's word into the signed digits of the number without bias.
func (w *nttWriter) digits(x nttPair) { w.xor(x.l, x.l, nttSign) }

// canonical subtracts p from a word if it is not below p. For a smaller word the difference wraps
// to something larger.
func (w *nttWriter) canonical(x nttPair) {
	a := w.temp(0)
	if w.avx512() {
		w.sub(a, x.l, w.constant(nttPrime))
		w.op("VPMINUQ", a, x.l, x.l)
		return
	}
	w.xor(a, x.l, nttTop)
	w.op("VPCMPGTQ", w.constant(nttBelow), a, a)
	w.and(a, a, nttPrime)
	w.sub(x.l, x.l, a)
}

// fromWord splits x.l, which is canonical.
func (w *nttWriter) fromWord(x nttPair) {
	w.op("VPSRLQ", "$32", x.l, x.h)
	w.and(x.l, x.l, nttLow)
}

// fromDigits splits x.l, which has signed digits.
func (w *nttWriter) fromDigits(x nttPair) {
	w.high(x.h, x.l)
	w.op("VPMULDQ", w.constant(nttOne), x.l, x.l)
}

// factor multiplies a by one of a twiddle's digits: t0 and t1 of t, s0 and s1 of 2^32 t.
type factor func(dst, a string, digit int)

const (
	t0 = iota
	t1
	s0
	s1
)

// broadcast returns twiddle k of the row at R8, for all lanes.
func (w *nttWriter) broadcast(k int) factor {
	return func(dst, a string, digit int) {
		address := fmt.Sprintf("%d(R8)", digit/2*w.bytes()+8*k+digit%2*4)
		if w.avx512() {
			w.op("VPMULDQ.BCST", address, a, dst)
			return
		}
		w.op("VPBROADCASTQ", address, w.digit(digit%2))
		w.op("VPMULDQ", w.digit(digit%2), a, dst)
	}
}

// lanewise returns vector k of twiddles of the group at R8, one twiddle per lane.
func (w *nttWriter) lanewise(k int) factor {
	return func(dst, a string, digit int) {
		address := fmt.Sprintf("%d(R8)", (2*(k-1)+digit/2)*w.bytes())
		if digit%2 == 0 {
			w.op("VPMULDQ", address, a, dst)
			return
		}
		w.op("VMOVSHDUP", address, w.digit(digit/2))
		w.op("VPMULDQ", w.digit(digit/2), a, dst)
	}
}

// product sets x to the product of signed digits, which are in the low halves of lanes,
// by a twiddle; |l| is at most 2^63 - 2^33 and |h| at most 2^63 - 2^32 (twiddle in package
// goldilocks).
func (w *nttWriter) product(x nttPair, a0, a1 string, f factor) {
	b, c := w.temp(2), w.temp(3)
	f(b, a1, s0)
	f(c, a1, s1)
	f(x.h, a0, t1)
	f(x.l, a0, t0) // x.l may be a0
	w.add(x.l, x.l, b)
	w.add(x.h, x.h, c)
}

// narrow makes a product's l and h less than 2^34 in absolute value.
func (w *nttWriter) narrow(x nttPair) {
	a, b := w.temp(2), w.temp(3)
	w.high(a, x.l)
	w.high(b, x.h)
	w.and(x.l, x.l, nttLow)
	w.and(x.h, x.h, nttLow)
	w.add(x.h, x.h, a)
	w.add(x.h, x.h, b)
	w.sub(x.l, x.l, b)
}

// times multiplies the digits x.l by a twiddle and turns the product into digits. It is word with a
// bias, for l and h of 64 bits.
//
// With h = 2^32 h1 + h0 after the bias, V = (l + 2^31 - h1) + 2^32 (h0 + h1). Here l + 2^31 - h1 is
// from -2^63 + 2^33 + 1 to 2^63 - 2^33 + 2^32, and h0 + h1 from -2^31 to 2^32 + 2^31 - 2. So V is
// from -2^64 + 2^33 + 1 to 2^65 - 2^34 + 2^32, and k is -1, 0 or 1. Then V mod 2^64 is at least
// 2^33 + 1 for k = -1 and at most 2^64 - 2^34 + 2^32 for k = 1, so V - p k = (V mod 2^64) + k (2^32
// - 1) fits in 64 bits.
func (w *nttWriter) times(x nttPair, f factor) {
	w.op("VMOVSHDUP", x.l, w.temp(1))
	w.product(x, x.l, w.temp(1), f)
	m, c := w.temp(1), w.temp(2)
	w.bias(x)
	w.high(m, x.h)
	w.and(x.h, x.h, nttLow) // h0, which is all of h that counts from here on
	w.sub(c, x.l, m)
	w.high(c, c)
	w.add(c, c, m)
	w.add(c, c, x.h)
	w.high(c, c)
	w.add(m, m, c)
	w.sub(x.l, x.l, m)
	w.add(x.h, x.h, m)
	w.left(x.h, x.h, 32)
	w.add(x.l, x.l, x.h)
	w.digits(x)
}

// transpose exchanges lanes and registers. x[i].l is row i.
func (w *nttWriter) transpose(x []nttPair) {
	exchange := func(low, high, lowImm, highImm string, a, b int) {
		if lowImm == "" {
			w.op(low, x[b].l, x[a].l, w.spare.l)
			w.op(high, x[b].l, x[a].l, x[b].l)
		} else {
			w.op(low, lowImm, x[b].l, x[a].l, w.spare.l)
			w.op(high, highImm, x[b].l, x[a].l, x[b].l)
		}
		x[a].l, w.spare.l = w.spare.l, x[a].l
	}
	for i := 0; i < w.lanes; i += 2 {
		exchange("VPUNPCKLQDQ", "VPUNPCKHQDQ", "", "", i, i+1)
	}
	if !w.avx512() {
		for i := range 2 {
			exchange("VPERM2I128", "VPERM2I128", "$0x20", "$0x31", i, i+2)
		}
		return
	}
	// Registers i, i+2, i+4, i+6 hold quarters 0 to 3 of columns of pairs of rows.
	shuffle := func(a, b int) { exchange("VSHUFI64X2", "VSHUFI64X2", "$0x88", "$0xdd", a, b) }
	for i := range 2 {
		shuffle(i, i+2) // quarters 0 and 2, and 1 and 3, of the first four rows
		shuffle(i+4, i+6)
		shuffle(i, i+4) // quarter 0, and 2, of all
		shuffle(i+2, i+6)
	}
}

// constants loads the constants that are in registers.
func (w *nttWriter) constants() {
	for _, c := range nttConstants {
		if w.avx512() && c.register >= 0 {
			w.op("MOVQ", fmt.Sprintf("$%#x", c.value), "AX")
			w.op("VPBROADCASTQ", "AX", w.constant(c))
		}
	}
}

// data writes the constants that are in memory.
func (w *nttWriter) data() {
	for _, c := range nttConstants {
		fmt.Fprintln(w)
		for i := range 4 {
			fmt.Fprintf(w, "DATA ntt%s<>+%d(SB)/8, $%#x\n", c.name, 8*i, c.value)
		}
		fmt.Fprintf(w, "GLOBL ntt%s<>(SB), RODATA|NOPTR, $32\n", c.name)
	}
}
