package zkvm

import "github.com/zkbench/zkbench/stark/air"

// logic is the table of and, or, xor, andi, ori and xori.
type logic struct {
	columns
	instruction
	and, or, xor      column // one of them is 1 in a row of an instruction
	immediate         column
	rd, rs1, rs2      column
	before1, before2  column // times of the accesses to the operands before
	old               access
	c                 word
	left, right, both []column // bytes of the operands, and of their and; the least significant first
}

// The codes of logic; codeImmediate is added to each.
const (
	codeAnd = codeLogic + 2<<iota
	codeOr
	codeXor
)

func newLogic(s shape) *logic {
	t := &logic{}
	t.instruction = t.columns.instruction()
	t.and, t.or, t.xor, t.immediate = t.bit("and"), t.bit("or"), t.bit("xor"), t.bit("immediate")
	t.rd, t.rs1, t.rs2 = t.column("rd", 6), t.column("rs1", 5), t.column("rs2", 32)
	t.before1, t.before2 = t.column("a.time", timeBits), t.column("b.time", timeBits)
	t.old, t.c = t.columns.access("old", s), t.columns.word("c", s)
	for _, part := range []struct {
		name string
		to   *[]column
	}{{"left", &t.left}, {"right", &t.right}, {"both", &t.both}} {
		for range wordBytes {
			*part.to = append(*part.to, t.column(part.name, s.byte))
		}
	}
	return t
}

func (*logic) name() string        { return "logic" }
func (t *logic) shapeOf() *columns { return &t.columns }

func (t *logic) state(b builder) {
	and, or, xor, immediate, time := b.at(t.and), b.at(t.or), b.at(t.xor), b.at(t.immediate), b.at(t.time)
	real := sum(and, or, xor)
	b.bit("and", t.and)
	b.bit("or", t.or)
	b.bit("xor", t.xor)
	b.bit("immediate", t.immediate)
	b.instruction(t.instruction, real, code{
		op: sum(and.Times(codeAnd), or.Times(codeOr), xor.Times(codeXor), immediate.Times(codeImmediate)),
		rd: b.at(t.rd), rs1: b.at(t.rs1), rs2: b.at(t.rs2),
	}, b.at(t.index).Add(real))

	x, y, both, c := b.bytes(t.left), b.bytes(t.right), b.bytes(t.both), b.word(t.c)
	b.register(x, t.before1, real, real, b.at(t.rs1), time, 0, x)
	b.register(y, t.before2, real, real.Sub(immediate), b.at(t.rs2), time, 1, y)
	b.register(b.word(t.old.word), t.old.time, real, real, b.at(t.rd), time, 3, c)
	for i := range t.left {
		b.Ask(busAnd, real, b.at(t.left[i]), b.at(t.right[i]), b.at(t.both[i]))
	}

	// x or y = x + y - (x and y), x xor y = x + y - 2 (x and y).
	sums, ands := or.Add(xor), and.Sub(or).Sub(xor.Times(2))
	result := func(x, y, both air.Expr) air.Expr { return sums.Mul(x.Add(y)).Add(ands.Mul(both)) }
	b.zero("lower limb", c.lo.Sub(result(x.lo, y.lo, both.lo)))
	b.zero("upper limb", c.hi.Sub(result(x.hi, y.hi, both.hi)))
}

// bytes returns the word that consists of bytes, the least significant first.
func (b builder) bytes(all []column) limbs {
	n := len(all) / 2
	return limbs{b.number(all[:n]), b.number(all[n:])}
}

// number returns the number that consists of bytes, the least significant first.
func (b builder) number(all []column) (e air.Expr) {
	for i, c := range all {
		e = e.Add(b.at(c).Times(1 << (i * b.byte)))
	}
	return e
}

func (t *logic) fill(w *writer, s *step, in *decoded) {
	w.instruction(t.instruction, s)
	switch in.op &^ codeImmediate {
	case codeAnd:
		w.set(t.and, 1)
	case codeOr:
		w.set(t.or, 1)
	case codeXor:
		w.set(t.xor, 1)
	}
	w.second(t.immediate, t.before2, s, in)
	w.set(t.rd, in.rd)
	w.set(t.rs1, in.rs1)
	w.set(t.rs2, in.rs2)
	w.before(t.before1, s.a, s.time)
	w.access(t.old, s.old, s.time+3)
	w.setWord(t.c, s.result)
	for i := range t.left {
		x, y := w.byteOf(s.a.value, i), w.byteOf(s.b.value, i)
		w.set(t.left[i], x)
		w.set(t.right[i], y)
		w.set(t.both[i], w.and(x, y))
	}
}
