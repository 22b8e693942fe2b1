package zkvm

import (
	"github.com/zkbench/zkbench/goldilocks"
)

// equal is the table of beq and bne. A jump without a link is a beq of register 0 with itself, and so is a fence, to its successor.
type equal struct {
	columns
	instruction
	beq, bne           column // one of them is 1 in a row of an instruction
	rs1, rs2           column
	target, successor  column
	a, b               access
	same               column // 1 if the operands are equal
	inverseLo, inverse column // times the limbs' differences they add up to 1 if the operands differ
}

// codeBne is added to codeEqual for bne.
const codeBne = 1

func newEqual(s shape) *equal {
	t := &equal{}
	t.instruction = t.columns.instruction()
	t.beq, t.bne = t.bit("beq"), t.bit("bne")
	t.rs1, t.rs2 = t.column("rs1", 5), t.column("rs2", 5)
	t.target, t.successor = t.column("target", 32), t.column("successor", 32)
	t.a, t.b = t.columns.access("a", s), t.columns.access("b", s)
	t.same = t.bit("same")
	t.inverseLo, t.inverse = t.column("inverse.lo", free), t.column("inverse.hi", free)
	return t
}

func (*equal) name() string        { return "equal" }
func (t *equal) shapeOf() *columns { return &t.columns }

func (t *equal) state(b builder) {
	beq, bne := b.at(t.beq), b.at(t.bne)
	real, index, target, successor := beq.Add(bne), b.at(t.index), b.at(t.target), b.at(t.successor)
	b.bit("bne", t.bne)
	b.instruction(t.instruction, real, code{
		op: real.Times(codeEqual).Add(bne.Times(codeBne)), rs1: b.at(t.rs1), rs2: b.at(t.rs2), z: target,
	}, successor)

	x, y, time := b.word(t.a.word), b.word(t.b.word), b.at(t.time)
	b.register(x, t.a.time, real, real, b.at(t.rs1), time, 0, x)
	b.register(y, t.b.time, real, real, b.at(t.rs2), time, 1, y)

	// In a row of an instruction, same is 0 if a limb differs, and otherwise 1 by the third constraint.
	same, lo, hi := b.at(t.same), x.lo.Sub(y.lo), x.hi.Sub(y.hi)
	b.zero("lower limbs are the same", same.Mul(lo))
	b.zero("upper limbs are the same", same.Mul(hi))
	b.zero("limbs differ", sum(lo.Mul(b.at(t.inverseLo)), hi.Mul(b.at(t.inverse)), same).Sub(real))
	taken := sum(beq.Mul(same), bne).Sub(bne.Mul(same))
	b.zero("successor", successor.Sub(index).Sub(real).Sub(taken.Mul(target.Sub(index).Sub(one))))
}

func (t *equal) fill(w *writer, s *step, in *decoded) {
	w.instruction(t.instruction, s)
	bne := in.op&codeBne != 0
	w.set(t.bne, flag(bne))
	w.set(t.beq, flag(!bne))
	w.set(t.rs1, in.rs1)
	w.set(t.rs2, in.rs2)
	w.set(t.target, in.z)
	w.access(t.a, s.a, s.time)
	w.access(t.b, s.b, s.time+1)
	same := s.a.value == s.b.value
	w.set(t.same, flag(same))
	alo, ahi := w.split(s.a.value)
	blo, bhi := w.split(s.b.value)
	inverse := func(x, y uint64) uint64 { return uint64(goldilocks.Element(x).Sub(goldilocks.Element(y)).Inverse()) }
	if alo != blo {
		w.set(t.inverseLo, inverse(alo, blo))
	} else if ahi != bhi {
		w.set(t.inverse, inverse(ahi, bhi))
	}
	successor := uint64(s.index) + 1
	if same != bne {
		successor = in.z
	}
	w.set(t.successor, successor)
}
