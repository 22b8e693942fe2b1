package zkvm

import "github.com/zkbench/zkbench/stark/air"

// divisions is the table of div, divu, rem, remu, divw, divuw, remw and remuw. It states, of absolute values A and B,
//
//	Q B + R = A and R < B, or B = 0
//
// The result is Q or R with its sign.
type divisions struct {
	columns
	instruction
	real, narrow, signed column
	takesRemainder       column // whether the remainder is the result
	rd, rs1, rs2         column
	a, b, old            access
	top, topUpper        column // a's limb with the sign
	negative             column // whether a is signed and negative
	divisor              magnitude
	quotient, remainder  magnitude
	carry                carry // from the lower limb of the equation to the upper one
	differenceLo         column
	differenceHi         column // upper halves of the limbs of B - R - 1
	borrow               column // from the upper limb of B - R - 1 to the lower one: 0, 1 or 2
	byZero               column // whether B is 0
	complement           column // whether the result is negative
	extension            column // highest bit of a narrow result, before its complement
	c                    word
}

// The codes of divisions are codeDivision with codeNarrow, codeSigned and this added.
const codeRemainder = 2

// magnitude is an absolute value. It is the word of its halves, or, of a negative number, that word plus 1. The number itself
// is then the complement of the word. Complements are made limb by limb, without carries.
type magnitude struct {
	quarters
	negative column
}

func (c *columns) magnitude(name string, s shape, signs ...int) magnitude {
	return magnitude{c.quarters(name, s, signs...), c.bit(name + ".negative")}
}

// absolute is a magnitude as expressions.
type absolute struct {
	limbs
	halves   [inWord]air.Expr
	negative air.Expr
}

// magnitude states the ranges of a magnitude in rows where real is 1, and returns it.
func (b builder) magnitude(name string, m magnitude, real air.Expr) absolute {
	b.bit(name+" is negative", m.negative)
	halves := b.quarters(m.quarters, real)
	return absolute{b.joined(halves), halves, b.at(m.negative)}
}

// complement returns the complement of a limb if negative is 1, and the limb if it is 0.
func (b builder) complement(limb, negative air.Expr) air.Expr {
	return limb.Add(negative.Mul(air.Constant(b.radix() - 1).Sub(limb.Times(2))))
}

func newDivisions(s shape) *divisions {
	t := &divisions{}
	t.instruction = t.columns.instruction()
	t.real, t.narrow, t.signed, t.takesRemainder = t.bit("real"), t.bit("narrow"), t.bit("signed"), t.bit("takes remainder")
	t.rd, t.rs1, t.rs2 = t.column("rd", 6), t.column("rs1", 5), t.column("rs2", 5)
	t.a, t.b, t.old = t.columns.access("a", s), t.columns.access("b", s), t.columns.access("old", s)
	t.top, t.topUpper, t.negative = t.column("top", s.limb), t.column("top.upper", s.half), t.bit("negative")
	t.divisor = t.columns.magnitude("divisor", s, 1, 3)
	t.quotient, t.remainder = t.columns.magnitude("quotient", s, 1), t.columns.magnitude("remainder", s, 1)
	t.carry = t.columns.carry("carry", s, 1)
	t.differenceLo, t.differenceHi = t.column("difference.lo.upper", s.half), t.column("difference.hi.upper", s.half)
	t.borrow, t.byZero = t.column("borrow", 2), t.bit("by zero")
	t.complement, t.extension, t.c = t.bit("complement"), t.bit("extension"), t.columns.word("c", s)
	return t
}

func (*divisions) name() string        { return "divisions" }
func (t *divisions) shapeOf() *columns { return &t.columns }

func (t *divisions) state(b builder) {
	real, narrow, signed, takesRemainder, time := b.at(t.real), b.at(t.narrow), b.at(t.signed), b.at(t.takesRemainder), b.at(t.time)
	for _, flag := range []column{t.narrow, t.signed, t.takesRemainder} {
		b.bit(t.names[flag], flag)
	}
	b.instruction(t.instruction, real, code{
		op: sum(real.Times(codeDivision), narrow.Times(codeNarrow), signed.Times(codeSigned), takesRemainder.Times(codeRemainder)),
		rd: b.at(t.rd), rs1: b.at(t.rs1), rs2: b.at(t.rs2),
	}, b.at(t.index).Add(real))
	x, y, c := b.word(t.a.word), b.word(t.b.word), b.word(t.c)
	b.register(x, t.a.time, real, real, b.at(t.rs1), time, 0, x)
	b.register(y, t.b.time, real, real, b.at(t.rs2), time, 1, y)
	b.register(b.word(t.old.word), t.old.time, real, real, b.at(t.rd), time, 3, c)

	wide := one.Sub(narrow)
	top, negative := b.at(t.top), b.at(t.negative)
	b.zero("top", top.Sub(x.hi).Sub(narrow.Mul(x.lo.Sub(x.hi))))
	b.rangeSigned(signed, top, b.at(t.topUpper), negative)
	b.zero("an unsigned dividend is not negative", one.Sub(signed).Mul(negative))

	// The word of a signed divisor's magnitude is below 2^63, or 2^31, and that decides whether it is a complement.
	divisor := b.magnitude("divisor", t.divisor, real)
	b.zero("lower limb of the divisor", divisor.lo.Sub(b.complement(y.lo, divisor.negative)))
	b.zero("upper limb of the divisor", divisor.hi.Sub(wide.Mul(b.complement(y.hi, divisor.negative))))
	b.zero("an unsigned divisor is not negative", one.Sub(signed).Mul(divisor.negative))
	b.zero("sign of the divisor's magnitude", signed.Mul(b.at(t.divisor.signs[3])))
	b.zero("sign of the narrow divisor's magnitude", signed.Mul(narrow).Mul(b.at(t.divisor.signs[1])))

	// Q B + R = A. With h = 2^16, the lower limb is below 2h³, so that its carry is below 2h; the upper one has none. All sides are
	// below 2^51, so that they are numbers, not only numbers modulo the field's order. A negative dividend has A = 2^64 - a, or
	// 2^32 - a if it is narrow.
	quotient, remainder := b.magnitude("quotient", t.quotient, real), b.magnitude("remainder", t.remainder, real)
	limbs, carry := b.convolution(quotient.halves, divisor.halves), b.carry("carry", t.carry, real)
	for _, of := range [][2]absolute{{quotient, divisor}, {divisor, quotient}} {
		limbs[0] = limbs[0].Add(of[0].negative.Mul(of[1].lo))
		limbs[1] = limbs[1].Add(of[0].negative.Mul(of[1].hi))
	}
	limbs[0] = sum(limbs[0], quotient.negative.Mul(divisor.negative), remainder.lo, remainder.negative)
	limbs[1] = sum(limbs[1], carry, remainder.hi)
	sign := one.Sub(negative.Times(2))
	b.zero("lower limb of the dividend", limbs[0].Sub(carry.Times(b.radix())).Sub(sign.Mul(x.lo)))
	b.zero("upper limb of the dividend", limbs[1].Sub(wide.Mul(sign).Mul(x.hi)).Sub(negative.Mul(narrow.Add(wide.Times(b.radix())))))
	b.zero("the product is a word", limbs[2].Add(limbs[3]))

	// R < B unless B is 0: the limbs of B - R - 1 have their ranges. These ranges alone would let borrow be 1 - 2^32, because 2^32
	// times that is 1 modulo the field's order.
	byZero, borrow := b.at(t.byZero), b.at(t.borrow)
	b.zero("by zero", byZero.Mul(sum(divisor.lo, divisor.hi, divisor.negative)))
	b.zero("borrow", borrow.Bool().Mul(air.Constant(2).Sub(borrow)))
	differenceLo := sum(divisor.lo, divisor.negative, borrow.Times(b.radix())).Sub(remainder.lo).Sub(remainder.negative).Sub(one)
	b.rangeLimb(real.Sub(byZero), differenceLo, b.at(t.differenceLo))
	b.rangeLimb(real.Sub(byZero), divisor.hi.Sub(remainder.hi).Sub(borrow), b.at(t.differenceHi))

	// A number is negative if its sign says so and it is not 0.
	signs := func(name string, m absolute, sign air.Expr) {
		b.zero("positive "+name, m.negative.Mul(one.Sub(sign)))
		b.zero("negative "+name, sign.Sub(m.negative).Mul(m.lo.Add(m.hi)))
	}
	signs("quotient", quotient, negative.Xor(divisor.negative))
	signs("remainder", remainder, negative)

	taken := func(quotient, remainder air.Expr) air.Expr {
		return quotient.Add(takesRemainder.Mul(remainder.Sub(quotient)))
	}
	complement, extension := b.at(t.complement), b.at(t.extension)
	b.zero("complement", complement.Sub(taken(quotient.negative, remainder.negative)))
	b.zero("extension", extension.Sub(narrow.Mul(taken(b.at(t.quotient.signs[1]), b.at(t.remainder.signs[1])))))
	b.zero("lower limb", c.lo.Sub(b.complement(taken(quotient.lo, remainder.lo), complement)))
	b.zero("upper limb", c.hi.Sub(b.complement(taken(quotient.hi, remainder.hi).Add(extension.Times(b.radix()-1)), complement)))
	ones := func(limb air.Expr) air.Expr {
		return byZero.Mul(one.Sub(takesRemainder)).Mul(limb.Plus(1 - b.radix()))
	}
	b.zero("lower limb of a quotient by zero", ones(c.lo))
	b.zero("upper limb of a quotient by zero", ones(c.hi))
}

func (t *divisions) fill(w *writer, s *step, in *decoded) {
	w.instruction(t.instruction, s)
	narrow, signed := in.op&codeNarrow != 0, in.op&codeSigned != 0
	takesRemainder := in.op&codeRemainder != 0
	w.set(t.real, 1)
	w.set(t.narrow, flag(narrow))
	w.set(t.signed, flag(signed))
	w.set(t.takesRemainder, flag(takesRemainder))
	w.set(t.rd, in.rd)
	w.set(t.rs1, in.rs1)
	w.set(t.rs2, in.rs2)
	w.access(t.a, s.a, s.time)
	w.access(t.b, s.b, s.time+1)
	w.access(t.old, s.old, s.time+3)
	w.setWord(t.c, s.result)

	lo, hi := w.split(s.a.value)
	top, width := hi, 2*w.limb
	if narrow {
		top, width = lo, w.limb
	}
	ones := uint64(1)<<width - 1
	absolute := func(word uint64) (v uint64, negative bool) {
		if signed && isNegative(word, width) {
			return -word & ones, true
		}
		return word & ones, false
	}
	a, negative := absolute(s.a.value)
	b, negativeB := absolute(s.b.value)
	w.set(t.top, top)
	w.set(t.negative, flag(negative))
	if signed {
		w.upperSigned(t.topUpper, top)
	}

	// A quotient by zero is all ones, which is also the complement of 0.
	q, r := ones, a
	negativeQ := negative
	if b != 0 {
		q, r = a/b, a%b
		negativeQ = negative != negativeB && q != 0
	} else if negative {
		q = 1
	}
	negativeR := negative && r != 0
	divisor := w.magnitude(t.divisor, b, negativeB)
	quotient := w.magnitude(t.quotient, q, negativeQ)
	remainder := w.magnitude(t.remainder, r, negativeR)

	divisorLo, divisorHi := w.split(divisor)
	quotientLo, _ := w.split(quotient)
	remainderLo, remainderHi := w.split(remainder)
	lower := w.convolution(quotient, divisor)[0] + flag(negativeB)*(quotientLo+flag(negativeQ)) + flag(negativeQ)*divisorLo
	lower += remainderLo + flag(negativeR) + flag(negative)*lo
	w.carry(t.carry, lower>>w.limb)

	w.set(t.byZero, flag(b == 0))
	if b != 0 {
		least := remainderLo + flag(negativeR) + 1
		difference, borrow := divisorLo+flag(negativeB), uint64(0)
		for difference < least {
			difference += uint64(w.radix())
			borrow++
		}
		w.set(t.borrow, borrow)
		w.upper(t.differenceLo, difference-least)
		w.upper(t.differenceHi, divisorHi-remainderHi-borrow)
	}
	result, complement := quotient, negativeQ
	if takesRemainder {
		result, complement = remainder, negativeR
	}
	w.set(t.complement, flag(complement))
	w.set(t.extension, flag(narrow && isNegative(result, width)))
}

// magnitude sets a magnitude and returns its word.
func (w *writer) magnitude(m magnitude, v uint64, negative bool) (word uint64) {
	word = v - flag(negative)
	w.quarters(m.quarters, word)
	w.set(m.negative, flag(negative))
	return word
}
