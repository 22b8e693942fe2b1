package zkvm

import "github.com/zkbench/zkbench/stark/air"

// sums is the table of add, addi, addw, addiw, sub, subw, lui and auipc. The last two add a constant to register 0.
type sums struct {
	columns
	instruction
	real, immediate  column
	sub, narrow      column
	rd, rs1, rs2     column
	a, b, old        access
	c                word
	upperLo, upperHi column // upper halves of c's limbs before they are extended
	sign             column // bit 31 of c
	carryLo, carryHi column
}

// The codes of sums are codeSums with codeImmediate and these added.
const (
	codeSub    = 2
	codeNarrow = 4
)

func newSums(s shape) *sums {
	t := &sums{}
	t.instruction = t.columns.instruction()
	t.real, t.immediate = t.bit("real"), t.bit("immediate")
	t.sub, t.narrow = t.bit("sub"), t.bit("narrow")
	t.rd, t.rs1, t.rs2 = t.column("rd", 6), t.column("rs1", 5), t.column("rs2", 32)
	t.a, t.b, t.old = t.columns.access("a", s), t.columns.access("b", s), t.columns.access("old", s)
	t.c = t.columns.word("c", s)
	t.upperLo, t.upperHi = t.column("upper.lo", s.half), t.column("upper.hi", s.half)
	t.sign = t.bit("sign")
	t.carryLo, t.carryHi = t.bit("carry.lo"), t.bit("carry.hi")
	return t
}

func (*sums) name() string        { return "sums" }
func (t *sums) shapeOf() *columns { return &t.columns }

func (t *sums) state(b builder) {
	real, immediate := b.at(t.real), b.at(t.immediate)
	sub, narrow, sign := b.at(t.sub), b.at(t.narrow), b.at(t.sign)
	b.bit("immediate", t.immediate)
	b.bit("sub", t.sub)
	b.bit("narrow", t.narrow)
	b.instruction(t.instruction, real, code{
		op: sum(real.Times(codeSums), immediate.Times(codeImmediate), sub.Times(codeSub), narrow.Times(codeNarrow)),
		rd: b.at(t.rd), rs1: b.at(t.rs1), rs2: b.at(t.rs2),
	}, b.at(t.index).Add(one))

	x, y, c := b.word(t.a.word), b.word(t.b.word), b.word(t.c)
	time := b.at(t.time)
	b.register(x, t.a.time, real, real, b.at(t.rs1), time, 0, x)
	b.register(y, t.b.time, real, real.Sub(immediate), b.at(t.rs2), time, 1, y)
	b.register(b.word(t.old.word), t.old.time, real, real, b.at(t.rd), time, 3, c)

	// Limb by limb: c = a ± (b + carry from below - 2^32 carry).
	b.bit("lower carry", t.carryLo)
	b.bit("upper carry", t.carryHi)
	factor := one.Sub(sub.Times(2))
	part := func(a, b, in, out air.Expr, radix int64) air.Expr {
		return a.Add(factor.Mul(b.Add(in).Sub(out.Times(radix))))
	}
	b.zero("lower limb", c.lo.Sub(part(x.lo, y.lo, air.Expr{}, b.at(t.carryLo), b.radix())))
	b.zero("upper limb", one.Sub(narrow).Mul(c.hi.Sub(part(x.hi, y.hi, b.at(t.carryLo), b.at(t.carryHi), b.radix()))))
	b.zero("sign of 32 bits", narrow.Mul(c.hi.Sub(sign.Times(b.radix()-1))))
	b.rangeSigned(real, c.lo, b.at(t.upperLo), sign)
	b.rangeLimb(real, c.hi, b.at(t.upperHi))
}

func (t *sums) fill(w *writer, s *step, in *decoded) {
	w.instruction(t.instruction, s)
	sub, narrow := in.op&codeSub != 0, in.op&codeNarrow != 0
	w.set(t.real, 1)
	w.second(t.immediate, t.b.time, s, in)
	w.setWord(t.b.word, s.b.value)
	w.set(t.sub, flag(sub))
	w.set(t.narrow, flag(narrow))
	w.set(t.rd, in.rd)
	w.set(t.rs1, in.rs1)
	w.set(t.rs2, in.rs2)
	w.access(t.a, s.a, s.time)
	w.access(t.old, s.old, s.time+3)
	w.setWord(t.c, s.result)

	alo, ahi := w.split(s.a.value)
	blo, bhi := w.split(s.b.value)
	carryLo, carryHi := (alo+blo)>>w.limb, uint64(0)
	if sub {
		carryLo = flag(alo < blo)
		carryHi = flag(ahi < bhi+carryLo)
	} else {
		carryHi = (ahi + bhi + carryLo) >> w.limb
	}
	w.set(t.carryLo, carryLo)
	w.set(t.carryHi, carryHi)
	lo, hi := w.split(s.result)
	w.set(t.sign, w.upperSigned(t.upperLo, lo))
	w.upper(t.upperHi, hi)
}

// flag returns 1 if b is true, and 0 otherwise.
func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
