package zkvm

import (
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/stark/air"
)

// compare is the table of slt, slti, sltu, sltiu, blt, bge, bltu and bgeu.
type compare struct {
	columns
	instruction
	set, less, notLess column // one of them is 1 in a row of an instruction: rd is set, or a branch is taken if a is less or is not
	signed, immediate  column
	rd, rs1, rs2       column
	target, successor  column
	a, b, old          access
	same, inverse      column // whether the upper limbs are equal; otherwise the inverse of their difference
	x, y               compared
	upper              column // upper half of x - y, as a limb
	isLess             column
}

// compared has the limb of an operand that decides, counted from the least number that it can be.
type compared struct{ limb, upper, sign column }

// The codes of comparisons. codeImmediate is added to those that set rd.
const (
	codeSet = codeCompare + 2<<iota
	codeLess
	codeNotLess
	codeSigned = 16
)

func newCompare(s shape) *compare {
	t := &compare{}
	t.instruction = t.columns.instruction()
	t.set, t.less, t.notLess = t.bit("set"), t.bit("less"), t.bit("not less")
	t.signed, t.immediate = t.bit("signed"), t.bit("immediate")
	t.rd, t.rs1, t.rs2 = t.column("rd", 6), t.column("rs1", 5), t.column("rs2", 32)
	t.target, t.successor = t.column("target", 32), t.column("successor", 32)
	t.a, t.b, t.old = t.columns.access("a", s), t.columns.access("b", s), t.columns.access("old", s)
	t.same, t.inverse = t.bit("same"), t.column("inverse", free)
	for _, operand := range []struct {
		name string
		to   *compared
	}{{"x", &t.x}, {"y", &t.y}} {
		*operand.to = compared{t.column(operand.name, s.limb), t.column(operand.name+".upper", s.half), t.bit(operand.name + ".sign")}
	}
	t.upper, t.isLess = t.column("difference.upper", s.half), t.bit("is less")
	return t
}

func (*compare) name() string        { return "compare" }
func (t *compare) shapeOf() *columns { return &t.columns }

func (t *compare) state(b builder) {
	set, less, notLess := b.at(t.set), b.at(t.less), b.at(t.notLess)
	signed, immediate, index, time := b.at(t.signed), b.at(t.immediate), b.at(t.index), b.at(t.time)
	target, successor := b.at(t.target), b.at(t.successor)
	real := sum(set, less, notLess)
	b.bit("less", t.less)
	b.bit("not less", t.notLess)
	b.bit("signed", t.signed)
	b.bit("immediate", t.immediate)
	b.instruction(t.instruction, real, code{
		op: sum(set.Times(codeSet), less.Times(codeLess), notLess.Times(codeNotLess), signed.Times(codeSigned), immediate.Times(codeImmediate)),
		rd: b.at(t.rd), rs1: b.at(t.rs1), rs2: b.at(t.rs2), z: target,
	}, successor)

	a, c, isLess := b.word(t.a.word), b.word(t.b.word), b.at(t.isLess)
	b.register(a, t.a.time, real, real, b.at(t.rs1), time, 0, a)
	b.register(c, t.b.time, real, real.Sub(immediate), b.at(t.rs2), time, 1, c)
	b.register(b.word(t.old.word), t.old.time, set, set, b.at(t.rd), time, 3, limbs{lo: isLess})

	// The upper limbs decide, unless they are equal: same is 0 if they differ, and otherwise 1.
	same, difference := b.at(t.same), a.hi.Sub(c.hi)
	b.zero("upper limbs are the same", same.Mul(difference))
	b.zero("upper limbs differ", difference.Mul(b.at(t.inverse)).Add(same).Sub(real))

	// A signed upper limb is moved by 2^31, which orders it as an unsigned one. Its range decides its sign.
	order := func(name string, c compared, of limbs) (limb air.Expr) {
		limb, sign := b.at(c.limb), b.at(c.sign)
		moved := signed.Mul(one.Sub(same)).Mul(air.Constant(b.radix() / 2).Sub(sign.Times(b.radix())))
		b.bit(name+"'s sign", c.sign)
		b.zero("limb of "+name, limb.Sub(of.hi).Sub(same.Mul(of.lo.Sub(of.hi))).Sub(moved))
		b.rangeLimb(real, limb, b.at(c.upper))
		return limb
	}
	x, y := order("x", t.x, a), order("y", t.y, c)
	b.bit("is less", t.isLess)
	b.rangeLimb(real, x.Sub(y).Add(isLess.Times(b.radix())), b.at(t.upper))

	taken := less.Mul(isLess).Add(notLess.Mul(one.Sub(isLess)))
	b.zero("successor", successor.Sub(index).Sub(real).Sub(taken.Mul(target.Sub(index).Sub(one))))
}

func (t *compare) fill(w *writer, s *step, in *decoded) {
	w.instruction(t.instruction, s)
	kind := in.op &^ (codeImmediate | codeSigned)
	signed := in.op&codeSigned != 0
	w.set(t.set, flag(kind == codeSet))
	w.set(t.less, flag(kind == codeLess))
	w.set(t.notLess, flag(kind == codeNotLess))
	w.set(t.signed, flag(signed))
	w.second(t.immediate, t.b.time, s, in)
	w.set(t.rd, in.rd)
	w.set(t.rs1, in.rs1)
	w.set(t.rs2, in.rs2)
	w.set(t.target, in.z)
	w.access(t.a, s.a, s.time)
	w.setWord(t.b.word, s.b.value)
	if kind == codeSet {
		w.access(t.old, s.old, s.time+3)
	}
	alo, ahi := w.split(s.a.value)
	blo, bhi := w.split(s.b.value)
	same := ahi == bhi
	w.set(t.same, flag(same))
	if !same {
		w.set(t.inverse, uint64(goldilocks.Element(ahi).Sub(goldilocks.Element(bhi)).Inverse()))
	}
	order := func(c compared, lo, hi uint64) (limb uint64) {
		switch limb = hi; {
		case same:
			limb = lo
		case signed:
			w.set(c.sign, hi>>(w.limb-1))
			limb = hi ^ 1<<(w.limb-1)
		}
		w.set(c.limb, limb)
		w.upper(c.upper, limb)
		return limb
	}
	x, y := order(t.x, alo, ahi), order(t.y, blo, bhi)
	less := x < y
	w.set(t.isLess, flag(less))
	w.upper(t.upper, (x-y)&uint64(w.radix()-1))
	successor := uint64(s.index) + 1
	if kind == codeLess && less || kind == codeNotLess && !less {
		successor = in.z
	}
	w.set(t.successor, successor)
}
