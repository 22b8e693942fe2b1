package arm64

import "strings"

// The permutation: as many states as a register has lanes, element i of all of them in
// one register.
//
// Instructions that one register of states takes with SVE2: a product that is not
// canonical 2 + 7, an S-box 36, the linear layer on both halves 2 85 + 4, joining the
// halves 5 an element, and 2 for a round constant. A full round is 12 36 + 174 + 12 7 =
// 690, a partial one 36 + 174 + 12 5 + 2 = 272; with some 260 around them
// 8 690 + 22 272 + 260 = 11,764. Executed are 11,766 (testdata of package poseidon).
const (
	width         = 12
	rate          = 8
	digestLen     = 4
	partialRounds = 22
)

// Permutation returns the contents of permute_arm64.s.
func Permutation() []byte {
	var text strings.Builder
	text.WriteString(header)
	for _, sve2 := range []bool{false, true} {
		a := &assembly{sve2: sve2}
		a.permutation()
		text.WriteString(a.out.String())
	}
	return []byte(text.String())
}

// General registers of the permutation.
const (
	xDst       xReg = 0
	xSrc       xReg = 1
	xCount     xReg = 2 // states left
	xDstStride xReg = 3 // in bytes
	xSrcStride xReg = 4
	xLoaded    xReg = 5
	xChained   xReg = 6
	xStored    xReg = 7
	xTable     xReg = 8
	xScratch   xReg = 9
	xConstants xReg = 10 // of the round
	xHalf      xReg = 11 // 0 before the partial rounds, 1 after them
	xRounds    xReg = 12
	xLanes     xReg = 13
)

// zAddress holds the address of each lane's elements.
const zAddress zReg = 25

// bank is twelve registers.
type bank [width]zReg

// permutation writes the function. Beside the two banks of twelve it has seven registers,
// z25 to z31.
func (a *assembly) permutation() {
	s := a.suffix()
	a.line("\n// func permute%s(dst, src *uint64, count, dstStride, srcStride, loaded, chained, stored int, table *uint64)", s)
	a.line("TEXT ·permute%s(SB), NOSPLIT, $0-72", s)
	for i, name := range strings.Fields("dst src count dstStride srcStride loaded chained stored table") {
		a.scalar("MOVD %s+%d(FP), R%d", name, 8*i, i)
	}
	a.constants(xScratch)
	a.vector(cntd(xLanes))
	a.line("permute%sNext:", s)
	a.vector(whilelo(active, 31, xCount))
	var even, odd bank
	for i := range width {
		even[i], odd[i] = zReg(i), zReg(width+i)
		if odd[i] >= eps {
			odd[i]++
		}
	}
	a.loadStates(even)
	a.scalar("MOVD R%d, R%d", xTable, xConstants)
	a.scalar("MOVD ZR, R%d", xHalf)

	a.line("permute%sHalf:", s)
	a.addConstants(even)
	a.scalar("MOVD $2, R%d", xRounds)
	a.line("permute%sFull:", s)
	for _, turn := range [][2]bank{{even, odd}, {odd, even}} {
		state, next := turn[0], turn[1]
		for _, x := range state {
			a.power7(x, next[0], next[1], next[2], next[3], next[4])
		}
		a.mix(next, state, width)
		a.scalar("ADD $%d, R%d", 8*width, xConstants)
	}
	a.scalar("SUBS $1, R%d", xRounds)
	a.scalar("BNE permute%sFull", s)
	a.scalar("CBNZ R%d, permute%sStore", xHalf, s)

	a.scalar("MOVD $%d, R%d", partialRounds/2, xRounds)
	a.line("permute%sPartial:", s)
	for _, turn := range [][2]bank{{even, odd}, {odd, even}} {
		state, next := turn[0], turn[1]
		a.power7(state[0], next[0], next[1], next[2], next[3], next[4])
		a.mix(next, state, 1)
		a.scalar("ADD $8, R%d", xConstants)
	}
	a.scalar("SUBS $1, R%d", xRounds)
	a.scalar("BNE permute%sPartial", s)
	a.scalar("MOVD $1, R%d", xHalf)
	a.scalar("JMP permute%sHalf", s)

	a.line("permute%sStore:", s)
	a.storeStates(even)
	a.scalar("SUBS R%d, R%d", xLanes, xCount)
	a.scalar("BGT permute%sNext", s)
	a.scalar("RET")
}

// loadStates loads the first elements, as many as loaded says, from src. The others are zeros,
// except that the capacity comes from dst if chained says so.
func (a *assembly) loadStates(s bank) {
	label := "permute" + a.suffix()
	a.vector(index(zAddress, xSrc, xSrcStride))
	a.scalar("MADD R%d, R%d, R%d, R%d", xSrcStride, xSrc, xLanes, xSrc)
	for _, z := range s {
		a.vector(dup0(z))
	}
	for i, z := range s {
		a.scalar("CMP $%d, R%d", i, xLoaded)
		a.scalar("BEQ %sLoaded", label)
		a.vector(gather(z, active, zAddress, uint32(i)))
	}
	a.line("%sLoaded:", label)
	a.vector(index(zAddress, xDst, xDstStride))
	a.scalar("CBZ R%d, %sFresh", xChained, label)
	for i := range digestLen {
		a.vector(gather(s[rate+i], active, zAddress, uint32(i)))
	}
	a.line("%sFresh:", label)
}

// storeStates stores the first elements, four or all.
func (a *assembly) storeStates(s bank) {
	label := "permute" + a.suffix()
	a.vector(index(zAddress, xDst, xDstStride))
	a.scalar("MADD R%d, R%d, R%d, R%d", xDstStride, xDst, xLanes, xDst)
	for i, z := range s {
		if i == digestLen {
			a.scalar("CMP $%d, R%d", i, xStored)
			a.scalar("BEQ %sStored", label)
		}
		a.canonical(z, 26)
		a.vector(scatter(z, active, zAddress, uint32(i)))
	}
	a.line("%sStored:", label)
}

// addConstants adds twelve constants.
func (a *assembly) addConstants(s bank) {
	for i, z := range s {
		a.vector(ld1rd(25, every, xConstants, uint32(i)))
		a.addLazy(z, z, 25)
	}
	a.scalar("ADD $%d, R%d", 8*width, xConstants)
}

// power7 sets x to x^7, x^3 x^4.
func (a *assembly) power7(x, t0, t1, t2, x2, x3 zReg) {
	t := [3]zReg{t0, t1, t2}
	a.mulLazy(x2, x, x, t)
	a.mulLazy(x3, x2, x, t)
	a.mulLazy(x2, x2, x2, t)
	a.mulLazy(x, x2, x3, t)
}

// mix sets to to the linear layer of from, and adds a constant to the first elements. It
// overwrites from.
//
// The layer's entries are small: it is computed on the elements' halves of 32 bits, in
// integers. A row's sum is 264, so that a half becomes less than 2^41.
func (a *assembly) mix(to, from bank, constants int) {
	free := []zReg{25, 26, 27, 28, 29, 30}
	const first zReg = 31 // the first element's upper half
	a.vector(shift("lsr", first, from[0], 32))
	low := to
	a.splitLow(low, from, free)
	a.circulant(low, free)
	a.vector(uxtw(free[0], every, from[0]))
	a.vector(adr(low[0], low[0], free[0], 3)) // the diagonal's 8
	high, free := a.splitHigh(from, free)
	a.circulant(high, free)
	a.vector(adr(high[0], high[0], first, 3))
	for i := range to {
		a.join(to[i], high[i], free[0], i, i < constants)
	}
}

// splitLow sets, for i below 6, to[i] to the sum of the low halves of from[i] and
// from[i+6], and to[i+6] to (-1)^i their difference.
func (a *assembly) splitLow(to, from bank, free []zReg) {
	for i := range 6 {
		x, y := from[i], from[i+6]
		if a.sve2 {
			a.vector(dss("uaddlb", to[i], x, y))
			x, y = alternate(i, x, y)
			a.vector(dss("usublb", to[i+6], x, y))
			continue
		}
		a.vector(uxtw(free[0], every, x))
		a.vector(uxtw(free[1], every, y))
		a.vector(ddd("add", to[i], free[0], free[1]))
		x, y = alternate(i, free[0], free[1])
		a.vector(ddd("sub", to[i+6], x, y))
	}
}

// splitHigh does the same as splitLow for the high halves, in place. It returns the registers of
// the twelve results, and those that are free.
func (a *assembly) splitHigh(s bank, free []zReg) (bank, []zReg) {
	sum, rest := free[0], free[1:]
	for i := range 6 {
		x, y := s[i], s[i+6]
		if a.sve2 {
			a.vector(dss("uaddlt", sum, x, y))
			x, y = alternate(i, x, y)
			a.vector(dss("usublt", s[i+6], x, y))
		} else {
			a.vector(shift("lsr", x, x, 32))
			a.vector(shift("lsr", y, y, 32))
			a.vector(ddd("add", sum, x, y))
			x, y = alternate(i, x, y)
			a.vector(ddd("sub", s[i+6], x, y))
		}
		s[i], sum = sum, s[i]
	}
	return s, append([]zReg{sum}, rest...)
}

// alternate returns x, y if i is even, else y, x.
func alternate(i int, x, y zReg) (zReg, zReg) {
	if i%2 != 0 {
		return y, x
	}
	return x, y
}

// circulant completes the product by the circulant matrix, modulo X^12 - 1 that by
//
//	17 + 20 X + 34 X^2 + 18 X^3 + 39 X^4 + 13 X^5 + 13 X^6 + 28 X^7 + 2 X^8 + 16 X^9 + 41 X^10 + 15 X^11.
//
// X^12 - 1 = (X^3 - 1) (X^3 + 1) (X^6 + 1). Modulo these, the polynomial is
//
//	64 + 128 X + 64 X^2, -4 - 32 X + 8 X^2, 4 - 8 X + 32 X^2 + 2 X^3 - 2 X^4 - 2 X^5,
//
// and putting the product together divides by 4, 4 and 2: all is integers, and additions
// with shifts suffice. The operand comes modulo X^6 - 1, in s[:6], and modulo X^6 + 1 with
// -X for X, in s[6:]. Numbers may be negative on the way; they are below 2^63 in size.
func (a *assembly) circulant(s bank, free []zReg) {
	v := a.negacyclic(bank(s), free)
	// s[7:] is free now; v[5] is s[6].
	for i := range 3 {
		a.vector(ddd("add", s[7+i], s[i], s[i+3]))
		a.vector(ddd("sub", s[i], s[i], s[i+3]))
	}
	sums, differences := s[7:10], s[:3]

	// Modulo X^3 - 1 by 16 + 32 X + 16 X^2: 16 times the sum of all, and of the one before.
	all := free[5]
	a.vector(ddd("add", all, sums[0], sums[1]))
	a.vector(ddd("add", all, all, sums[2]))
	plus := s[3:6]
	for i := range 3 {
		a.vector(ddd("add", plus[i], all, sums[(i+2)%3]))
		a.vector(shift("lsl", plus[i], plus[i], 4))
	}

	// Modulo X^3 + 1 by 1 + 8 X - 2 X^2, the sign left for later:
	// d0 + 2 d1 - 8 d2, d1 + 8 d0 + 2 d2, d2 + 8 d1 - 2 d0.
	d, minus := differences, s[7:10]
	a.vector(adr(minus[0], d[0], d[1], 1))
	a.vector(shift("lsl", s[10], d[2], 3))
	a.vector(ddd("sub", minus[0], minus[0], s[10]))
	a.vector(adr(minus[1], d[1], d[0], 3))
	a.vector(adr(minus[1], minus[1], d[2], 1))
	a.vector(adr(minus[2], d[2], d[1], 3))
	a.vector(shift("lsl", s[10], d[0], 1))
	a.vector(ddd("sub", minus[2], minus[2], s[10]))

	for i := range 3 {
		a.vector(ddd("sub", s[i], plus[i], minus[i]))
		a.vector(ddd("add", plus[i], plus[i], minus[i]))
	}
	for _, i := range []int{5, 0, 1, 2, 3, 4} { // v[5] is in the register that s[6] needs
		u := s[i]
		x, y := "add", "sub"
		if i%2 != 0 { // s holds the polynomial in -X
			x, y = y, x
		}
		a.vector(ddd(y, s[i+6], u, v[i]))
		a.vector(ddd(x, s[i], u, v[i]))
	}
}

// negacyclic multiplies s[6:] by 2 + 4 X + 16 X^2 - X^3 - X^4 + X^5 modulo X^6 + 1. The
// product is in free[:5] and s[6].
func (a *assembly) negacyclic(s bank, free []zReg) [6]zReg {
	b, t := s[6:], free[5]
	v := [6]zReg(append(append([]zReg{}, free[:5]...), b[0]))
	// 2 b0 - 4 b5 - 16 b4 + b3 + b2 - b1
	a.vector(ddd("add", v[0], b[3], b[2]))
	a.vector(ddd("sub", v[0], v[0], b[1]))
	a.vector(adr(v[0], v[0], b[0], 1))
	a.vector(adr(t, b[5], b[4], 2))
	a.vector(shift("lsl", t, t, 2))
	a.vector(ddd("sub", v[0], v[0], t))
	// 2 b1 + 4 b0 - 16 b5 + b4 + b3 - b2
	a.vector(ddd("add", v[1], b[4], b[3]))
	a.vector(ddd("sub", v[1], v[1], b[2]))
	a.vector(adr(v[1], v[1], b[1], 1))
	a.vector(adr(v[1], v[1], b[0], 2))
	a.vector(shift("lsl", t, b[5], 4))
	a.vector(ddd("sub", v[1], v[1], t))
	// 2 bi + 4 b(i-1) + 16 b(i-2) and three more.
	three := func(i int, x, y, z int, ops [2]string) {
		a.vector(ddd(ops[0], v[i], b[x], b[y]))
		a.vector(ddd(ops[1], v[i], v[i], b[z]))
	}
	powers := func(i int, t zReg) {
		a.vector(adr(t, b[i], b[i-1], 1))
		a.vector(adr(t, t, b[i-2], 3))
		a.vector(adr(v[i], v[i], t, 1))
	}
	three(2, 5, 4, 3, [2]string{"add", "sub"}) // b5 + b4 - b3
	powers(2, t)
	three(3, 5, 4, 0, [2]string{"sub", "sub"}) // b5 - b4 - b0
	powers(3, t)
	a.vector(ddd("add", t, b[1], b[0])) // -b1 - b0 - b5
	a.vector(ddd("add", t, t, b[5]))
	a.vector(adr(v[4], b[4], b[3], 1))
	a.vector(adr(v[4], v[4], b[2], 3))
	a.vector(shift("lsl", v[4], v[4], 1))
	a.vector(ddd("sub", v[4], v[4], t))
	three(5, 0, 1, 2, [2]string{"sub", "sub"}) // b0 - b1 - b2, over b0
	powers(5, t)
	return v
}

// join sets low to high 2^32 + low modulo p, below 2^64. If constant is set, it adds the constant
// with the given number. It overwrites high and t.
//
// With high = h 2^32 + l, the result is low + h (2^32 - 1) + l 2^32. Both low and high are below
// 2^41, so h is below 2^9. Without the last term the result is below 2^42. With a constant, which
// is below 2^64 - 2^42 (a test of package poseidon), it is below 2^64. Without a constant both may
// be larger, for example below 2^44.
func (a *assembly) join(low, high, t zReg, number int, constant bool) {
	if a.sve2 {
		a.vector(dssWord("umlalt", low, high, eps, 0))
	} else {
		a.vector(shift("lsr", t, high, 32))
		a.vector(mla(low, every, t, eps))
	}
	if constant {
		a.vector(ld1rd(t, every, xConstants, uint32(number)))
		a.vector(ddd("add", low, low, t))
	}
	a.vector(shift("lsl", high, high, 32))
	a.addLazy(low, low, high) // the multiple of 2^32 is at most 2^64 - 2^32 < p
}
