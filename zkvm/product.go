package zkvm

import "github.com/zkbench/zkbench/stark/air"

// products is the table of mul, mulh, mulhsu, mulhu and mulw. It multiplies by halves: a product of limbs with a carry would
// reach the field's order.
type products struct {
	columns
	instruction
	real, narrow            column
	high                    column // whether the upper word of the product is the result
	signedLeft, signedRight column // whether an operand is signed, which decides the upper word
	rd, rs1, rs2            column
	a, b                    quarters
	before1, before2        column // times of the accesses to the operands before
	old                     access
	lower, upper            quarters // words of the product
	carries                 [3]carry // into the limbs 1 to 3 of the product; the last one has 1 added
	borrow                  column   // what the highest limb borrows
	c                       word
}

// The codes of products are codeProduct with codeNarrow and these added.
const (
	codeHigh        = 8
	codeSignedLeft  = 16
	codeSignedRight = 32
)

func newProducts(s shape) *products {
	t := &products{}
	t.instruction = t.columns.instruction()
	t.real, t.narrow, t.high = t.bit("real"), t.bit("narrow"), t.bit("high")
	t.signedLeft, t.signedRight = t.bit("signed left"), t.bit("signed right")
	t.rd, t.rs1, t.rs2 = t.column("rd", 6), t.column("rs1", 5), t.column("rs2", 5)
	t.a, t.b = t.columns.quarters("a", s, 3), t.columns.quarters("b", s, 3)
	t.before1, t.before2 = t.column("a.time", timeBits), t.column("b.time", timeBits)
	t.old = t.columns.access("old", s)
	t.lower, t.upper = t.columns.quarters("lower", s, 1), t.columns.quarters("upper", s)
	for i, above := range [...]int{1, 2, 1} {
		t.carries[i] = t.columns.carry("carry", s, above)
	}
	t.borrow, t.c = t.bit("borrow"), t.columns.word("c", s)
	return t
}

func (*products) name() string        { return "products" }
func (t *products) shapeOf() *columns { return &t.columns }

func (t *products) state(b builder) {
	real, narrow, high, time := b.at(t.real), b.at(t.narrow), b.at(t.high), b.at(t.time)
	signedLeft, signedRight := b.at(t.signedLeft), b.at(t.signedRight)
	for _, flag := range []column{t.narrow, t.high, t.signedLeft, t.signedRight} {
		b.bit(t.names[flag], flag)
	}
	b.instruction(t.instruction, real, code{
		op: sum(real.Times(codeProduct), narrow.Times(codeNarrow), high.Times(codeHigh), signedLeft.Times(codeSignedLeft), signedRight.Times(codeSignedRight)),
		rd: b.at(t.rd), rs1: b.at(t.rs1), rs2: b.at(t.rs2),
	}, b.at(t.index).Add(real))

	x, y := b.quarters(t.a, real), b.quarters(t.b, real)
	left, right, c := b.joined(x), b.joined(y), b.word(t.c)
	b.register(left, t.before1, real, real, b.at(t.rs1), time, 0, left)
	b.register(right, t.before2, real, real, b.at(t.rs2), time, 1, right)
	b.register(b.word(t.old.word), t.old.time, real, real, b.at(t.rd), time, 3, c)

	// A negative operand is its word less 2^64. So the product of the words has 2^64 times the other operand too much. That of
	// two negative operands lacks 2^128, which is beyond the upper word.
	limbs := b.convolution(x, y)
	lower, upper := b.joined(b.quarters(t.lower, real)), b.joined(b.quarters(t.upper, real))
	negativeLeft, negativeRight := signedLeft.Mul(b.at(t.a.signs[3])), signedRight.Mul(b.at(t.b.signs[3]))
	excess := func(left, right air.Expr) air.Expr { return negativeLeft.Mul(right).Add(negativeRight.Mul(left)) }

	// With h = 2^16, the limbs are at most (1 + 2h)(h - 1)², (3 + 4h)(h - 1)², (3 + 2h)(h - 1)² and (h - 1)², so that the carries
	// are at most 2h - 3, 4h - 5 and 2h - 2. The third one can be negative. It is -1 at least, for two negative operands because
	// a[3] and b[3] are h/2 at least: limb 2 is at least (a[1] + b[1]) h/2, and the second carry (a[0] + b[0] - 1)/2. No side reaches 2^51.
	first, second := b.carry("first carry", t.carries[0], real), b.carry("second carry", t.carries[1], real)
	third := b.carry("third carry", t.carries[2], real).Sub(real)
	b.bit("borrow", t.borrow)
	b.zero("limb 0", limbs[0].Sub(lower.lo).Sub(first.Times(b.radix())))
	b.zero("limb 1", limbs[1].Add(first).Sub(lower.hi).Sub(second.Times(b.radix())))
	b.zero("limb 2", limbs[2].Add(second).Sub(excess(left.lo, right.lo)).Sub(upper.lo).Sub(third.Times(b.radix())))
	b.zero("limb 3", limbs[3].Add(third).Sub(excess(left.hi, right.hi)).Sub(upper.hi).Add(b.at(t.borrow).Times(b.radix())))

	b.zero("lower limb", c.lo.Sub(lower.lo).Sub(high.Mul(upper.lo.Sub(lower.lo))))
	b.zero("upper limb", c.hi.Sub(lower.hi).Sub(high.Mul(upper.hi.Sub(lower.hi))).Sub(narrow.Mul(b.at(t.lower.signs[1]).Times(b.radix()-1).Sub(lower.hi))))
}

func (t *products) fill(w *writer, s *step, in *decoded) {
	w.instruction(t.instruction, s)
	signedLeft, signedRight := in.op&codeSignedLeft != 0, in.op&codeSignedRight != 0
	w.set(t.real, 1)
	w.set(t.narrow, flag(in.op&codeNarrow != 0))
	w.set(t.high, flag(in.op&codeHigh != 0))
	w.set(t.signedLeft, flag(signedLeft))
	w.set(t.signedRight, flag(signedRight))
	w.set(t.rd, in.rd)
	w.set(t.rs1, in.rs1)
	w.set(t.rs2, in.rs2)
	a, b := s.a.value, s.b.value
	w.quarters(t.a, a)
	w.quarters(t.b, b)
	w.before(t.before1, s.a, s.time)
	w.before(t.before2, s.b, s.time+1)
	w.access(t.old, s.old, s.time+3)
	w.setWord(t.c, s.result)

	// The limbs with what is carried into them, as signed numbers.
	var excess [2]uint64
	add := func(negative bool, other uint64) {
		if negative {
			lo, hi := w.split(other)
			excess[0] += lo
			excess[1] += hi
		}
	}
	add(signedLeft && isNegative(a, 2*w.limb), b)
	add(signedRight && isNegative(b, 2*w.limb), a)
	var words [2]uint64
	carry := int64(0)
	for i, limb := range w.convolution(a, b) {
		total := int64(limb) + carry
		if i >= 2 {
			total -= int64(excess[i-2])
		}
		words[i/2] |= uint64(total) & uint64(w.radix()-1) << (i % 2 * w.limb)
		carry = total >> w.limb
		switch i {
		case 0, 1:
			w.carry(t.carries[i], uint64(carry))
		case 2:
			w.carry(t.carries[i], uint64(carry+1))
		case 3:
			w.set(t.borrow, uint64(-carry))
		}
	}
	w.quarters(t.lower, words[0])
	w.quarters(t.upper, words[1])
}
