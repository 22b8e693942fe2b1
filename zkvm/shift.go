package zkvm

import "github.com/zkbench/zkbench/stark/air"

// shifts is the table of slli, srli, slliw and srliw. All of them are products of the limbs with a power of two:
//
//	a.lo power = low + 2^32 high,  a.hi power = low' + 2^32 high'
//
// The program has the power.
type shifts struct {
	columns
	instruction
	ways           []column // one of them is 1 in a row of an instruction, indexed by way
	rd, rs1, power column
	a, old         access
	lo, hi         product
	sign           column // bit 31 of the result of wayNarrowLeft
	c              word
}

// product is a limb times a power of two: the limbs of the product, with their upper halves.
type product struct{ low, lowUpper, high, highUpper column }

func (c *columns) product(name string, s shape) product {
	return product{
		c.column(name+".low", s.limb), c.column(name+".low.upper", s.half),
		c.column(name+".high", s.limb-1), c.column(name+".high.upper", s.half-1),
	}
}

// pair is the limbs of a product as expressions.
type pair struct{ low, high air.Expr }

// products states the products of the limbs of a with a power. Of a narrow word there is one product. The sign is bit
// 31 of its lower limb.
func (b builder) products(lo, hi product, real air.Expr, a limbs, power, narrow, sign air.Expr) (pair, pair) {
	of := func(name string, p product, when, limb air.Expr) pair {
		low, high := b.at(p.low), b.at(p.high)
		b.zero("product of the "+name+" limb", when.Mul(limb.Mul(power).Sub(low).Sub(high.Times(b.radix()))))
		// A product is below 2^63, and so is low + 2^32 high because of this range, so that both are unique. If high were
		// below 2^32 only, then low + 1 and 2^32 - 1 would be those of the product plus the order.
		b.rangeSigned(real, high, b.at(p.highUpper), zero)
		return pair{low, high}
	}
	first, second := of("lower", lo, one, a.lo), of("upper", hi, one.Sub(narrow), a.hi)
	b.rangeSigned(real, first.low, b.at(lo.lowUpper), sign)
	b.rangeLimb(real, second.low, b.at(hi.lowUpper))
	return first, second
}

// shiftedLo returns the lower limb of the result, without what is filled in.
func (b builder) shiftedLo(of [ways]air.Expr, lo, hi pair) air.Expr {
	return sum(of[wayLeft].Add(of[wayNarrowLeft]).Mul(lo.low), of[wayRightLimb].Mul(lo.high.Add(hi.low)),
		of[wayRight].Mul(hi.high), of[wayNarrowRight].Mul(lo.high))
}

// shiftedHi returns the upper limb of the result, without what is filled in.
func (b builder) shiftedHi(of [ways]air.Expr, lo, hi pair, sign air.Expr) air.Expr {
	return sum(of[wayLeft].Mul(hi.low.Add(lo.high)), of[wayLeftLimb].Mul(lo.low), of[wayRightLimb].Mul(hi.high),
		of[wayNarrowLeft].Mul(sign).Times(b.radix()-1))
}

func newShifts(s shape) *shifts {
	t := &shifts{}
	t.instruction = t.columns.instruction()
	for range ways {
		t.ways = append(t.ways, t.bit("way"))
	}
	t.rd, t.rs1, t.power = t.column("rd", 6), t.column("rs1", 5), t.column("power", s.limb)
	t.a, t.old = t.columns.access("a", s), t.columns.access("old", s)
	t.lo, t.hi = t.columns.product("lo", s), t.columns.product("hi", s)
	t.sign, t.c = t.bit("sign"), t.columns.word("c", s)
	return t
}

func (*shifts) name() string        { return "shifts" }
func (t *shifts) shapeOf() *columns { return &t.columns }

func (t *shifts) state(b builder) {
	var real, op air.Expr
	var of [ways]air.Expr
	for i, column := range t.ways {
		of[i] = b.at(column)
		b.zero("a way is a bit", of[i].Bool())
		real, op = real.Add(of[i]), op.Add(of[i].Times(codeShift+int64(i)))
	}
	time, power, sign := b.at(t.time), b.at(t.power), b.at(t.sign)
	b.instruction(t.instruction, real, code{op: op, rd: b.at(t.rd), rs1: b.at(t.rs1), z: power}, b.at(t.index).Add(real))
	a, c := b.word(t.a.word), b.word(t.c)
	b.register(a, t.a.time, real, real, b.at(t.rs1), time, 0, a)
	b.register(b.word(t.old.word), t.old.time, real, real, b.at(t.rd), time, 3, c)
	lo, hi := b.products(t.lo, t.hi, real, a, power, of[wayNarrowLeft].Add(of[wayNarrowRight]), sign)
	b.zero("lower limb", c.lo.Sub(b.shiftedLo(of, lo, hi)))
	b.zero("upper limb", c.hi.Sub(b.shiftedHi(of, lo, hi, sign)))
}

func (t *shifts) fill(w *writer, s *step, in *decoded) {
	w.instruction(t.instruction, s)
	way := way(in.op - codeShift)
	w.set(t.ways[way], 1)
	w.set(t.rd, in.rd)
	w.set(t.rs1, in.rs1)
	w.set(t.power, in.z)
	w.access(t.a, s.a, s.time)
	w.access(t.old, s.old, s.time+3)
	w.set(t.sign, w.products(t.lo, t.hi, s.a.value, in.z, way == wayNarrowLeft || way == wayNarrowRight))
	w.setWord(t.c, s.result)
}

// products sets the products of the limbs of a word with a power, and returns the sign of the lower one.
func (w *writer) products(at, above product, word, power uint64, narrow bool) (sign uint64) {
	lo, hi := w.split(word)
	if narrow {
		hi = 0
	}
	low, high := w.split(lo * power)
	w.set(at.low, low)
	w.set(at.high, high)
	sign = w.upperSigned(at.lowUpper, low)
	w.upperSigned(at.highUpper, high)
	low, high = w.split(hi * power)
	w.set(above.low, low)
	w.set(above.high, high)
	w.upper(above.lowUpper, low)
	w.upperSigned(above.highUpper, high)
	return sign
}
