package zkvm

import "github.com/zkbench/zkbench/stark/air"

// jumps is the table of jal and jalr. A jal without a link is a beq of register 0 with itself.
type jumps struct {
	columns
	instruction
	jal, jalr    column // one of them is 1 in a row of an instruction
	rd, rs1      column
	z, successor column // z is the index of a jal's target, or what a jalr adds to its register
	a, old       access
	link         word   // what rd gets: the address of the instruction behind
	odd          column // lowest bit of a jalr's sum, which is not used
}

// codeJalr is added to codeJump for jalr.
const codeJalr = 2

func newJumps(s shape) *jumps {
	t := &jumps{}
	t.instruction = t.columns.instruction()
	t.jal, t.jalr = t.bit("jal"), t.bit("jalr")
	t.rd, t.rs1 = t.column("rd", 6), t.column("rs1", 5)
	t.z, t.successor = t.column("z", free), t.column("successor", 32)
	t.a, t.old, t.link = t.columns.access("a", s), t.columns.access("old", s), t.columns.word("link", s)
	t.odd = t.bit("odd")
	return t
}

func (*jumps) name() string        { return "jumps" }
func (t *jumps) shapeOf() *columns { return &t.columns }

func (t *jumps) state(b builder) {
	jal, jalr, index, time := b.at(t.jal), b.at(t.jalr), b.at(t.index), b.at(t.time)
	z, successor := b.at(t.z), b.at(t.successor)
	real := jal.Add(jalr)
	constant := index.Plus(firstConstant)
	b.bit("jal", t.jal)
	b.instruction(t.instruction, real, code{
		op: real.Times(codeJump).Add(jalr.Times(codeJalr)),
		rd: b.at(t.rd), rs1: b.at(t.rs1), z: z,
	}, successor)
	a, link := b.word(t.a.word), b.word(t.link)
	b.register(a, t.a.time, jalr, jalr, b.at(t.rs1), time, 0, a)
	b.Ask(busCell, real, air.Constant(spaceRegisters), constant, link.lo, link.hi, zero)
	b.register(b.word(t.old.word), t.old.time, real, real, b.at(t.rd), time, 3, link)
	b.zero("target of jal", jal.Mul(successor.Sub(z)))

	// The sum of a jalr is below 2^49, so that it is a number and not only one modulo the field's order. All targets are
	// even, and so the bit is the sum's lowest. An address from 2^48 on is no instruction's.
	b.bit("odd", t.odd)
	b.rangeHalf(jalr, a.hi)
	b.Ask(busTarget, jalr, sum(a.lo, a.hi.Times(b.radix()), z).Sub(b.at(t.odd)), successor)
}

func (t *jumps) fill(w *writer, s *step, in *decoded) {
	w.instruction(t.instruction, s)
	successor := in.z
	if in.op&codeJalr != 0 {
		w.set(t.jalr, 1)
		w.access(t.a, s.a, s.time)
		_, hi := w.split(s.a.value)
		w.half(hi)
		successor = uint64(s.next)
		w.counts.targets[successor]++
		w.set(t.odd, s.address&1)
	} else {
		w.set(t.jal, 1)
	}
	w.counts.constants[s.index]++
	w.set(t.rd, in.rd)
	w.set(t.rs1, in.rs1)
	w.set(t.z, in.z)
	w.set(t.successor, successor)
	w.access(t.old, s.old, s.time+3)
	w.setWord(t.link, in.constant)
}
