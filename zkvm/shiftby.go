package zkvm

import (
	"math/bits"

	"github.com/zkbench/zkbench/stark/air"
)

// shiftsBy is the table of sll, srl, sra, sllw, srlw and sraw, and of srai and sraiw. It makes the products that shifts
// makes. The fixed table of powers says by which power of two, and what the result consists of.
type shiftsBy struct {
	columns
	instruction
	kind, immediate    column
	ways               []column // one of them is 1 in a row of an instruction, indexed by way
	fills              column   // whether the result is filled with the sign
	rd, rs1, rs2       column
	a, b, old          access
	amount, more, most column // b.lo = amount + 2^6 (more + 2^16 most)
	power              column
	lo, hi             product
	top, topUpper      column // the limb with the sign
	topSign, fill1     column // its sign, and whether bits of 1 are filled in
	sign               column // bit 31 of the result of wayNarrowLeft
	c                  word
}

// The kinds of shifts. The code of an instruction is codeShiftBy plus twice its kind, plus codeImmediate.
const (
	kindSll = iota
	kindSrl
	kindSra
	kindSllw
	kindSrlw
	kindSraw
	shiftKinds
)

// way is what the result of a shift consists of.
type way int

const (
	wayLeft       way = iota // by less than a limb
	wayLeftLimb              // by a limb and more
	wayRightLimb             // by up to a limb
	wayRight                 // by more than a limb
	wayNarrowLeft            // of the lower limb, and of one that is not shifted
	wayNarrowRight
	ways

	wayFills = 8 // is added in the table of powers if the result is filled with the sign
)

// shifted returns how a shift of a kind by an amount is done.
func (s shape) shifted(kind, amount int) (way way, fills bool, power uint64) {
	if kind >= kindSllw {
		amount %= s.limb
		if kind == kindSllw || amount == 0 {
			return wayNarrowLeft, false, 1 << amount
		}
		return wayNarrowRight, kind == kindSraw, 1 << (s.limb - amount)
	}
	// A shift to the right is one to the left whose result is taken a word further up.
	if kind != kindSll && amount > 0 {
		left := 2*s.limb - amount
		if left >= s.limb {
			return wayRightLimb, kind == kindSra, 1 << (left - s.limb)
		}
		return wayRight, kind == kindSra, 1 << left
	}
	if amount >= s.limb {
		return wayLeftLimb, false, 1 << (amount - s.limb)
	}
	return wayLeft, false, 1 << amount
}

// amountBits returns how many bits of a register say by how much is shifted.
func (s shape) amountBits() int { return bits.TrailingZeros(uint(2 * s.limb)) }

func newShiftsBy(s shape) *shiftsBy {
	t := &shiftsBy{}
	t.instruction = t.columns.instruction()
	t.kind, t.immediate = t.column("kind", 3), t.bit("immediate")
	for range ways {
		t.ways = append(t.ways, t.bit("way"))
	}
	t.fills = t.bit("fills")
	t.rd, t.rs1, t.rs2 = t.column("rd", 6), t.column("rs1", 5), t.column("rs2", 32)
	t.a, t.b, t.old = t.columns.access("a", s), t.columns.access("b", s), t.columns.access("old", s)
	t.amount, t.more = t.column("amount", s.amountBits()), t.column("more", s.half)
	t.most = t.column("most", s.half-s.amountBits())
	t.power = t.column("power", s.limb)
	t.lo, t.hi = t.columns.product("lo", s), t.columns.product("hi", s)
	t.top, t.topUpper, t.topSign, t.fill1 = t.column("top", s.limb), t.column("top.upper", s.half), t.bit("top.sign"), t.bit("fill")
	t.sign, t.c = t.bit("sign"), t.columns.word("c", s)
	return t
}

func (*shiftsBy) name() string        { return "shifts by registers" }
func (t *shiftsBy) shapeOf() *columns { return &t.columns }

func (t *shiftsBy) state(b builder) {
	var real, way air.Expr
	var of [ways]air.Expr
	for i, column := range t.ways {
		of[i] = b.at(column)
		b.zero("a way is a bit", of[i].Bool())
		real, way = real.Add(of[i]), way.Add(of[i].Times(int64(i)))
	}
	kind, immediate, fills, time := b.at(t.kind), b.at(t.immediate), b.at(t.fills), b.at(t.time)
	b.bit("immediate", t.immediate)
	b.bit("fills", t.fills)
	b.instruction(t.instruction, real, code{
		op: sum(real.Times(codeShiftBy), kind.Times(2), immediate.Times(codeImmediate)),
		rd: b.at(t.rd), rs1: b.at(t.rs1), rs2: b.at(t.rs2),
	}, b.at(t.index).Add(real))
	a, y, c := b.word(t.a.word), b.word(t.b.word), b.word(t.c)
	b.register(a, t.a.time, real, real, b.at(t.rs1), time, 0, a)
	b.register(y, t.b.time, real, real.Sub(immediate), b.at(t.rs2), time, 1, y)
	b.register(b.word(t.old.word), t.old.time, real, real, b.at(t.rd), time, 3, c)

	// The table of powers ranges the amount. The rest of the limb has fewer bits than two halves. These make a number below 2^38,
	// and so the equation, whose other side is below 2^32, is one of numbers.
	amount, more, most, power := b.at(t.amount), b.at(t.more), b.at(t.most), b.at(t.power)
	amounts := int64(1) << b.amountBits()
	b.zero("amount", y.lo.Sub(amount).Sub(more.Add(most.Times(b.halves())).Times(amounts)))
	b.rangeHalf(real, more)
	b.rangeHalf(real, most)
	b.Ask(busPower, real, kind, amount, way.Add(fills.Times(wayFills)), power)

	narrow, sign := of[wayNarrowLeft].Add(of[wayNarrowRight]), b.at(t.sign)
	lo, hi := b.products(t.lo, t.hi, real, a, power, narrow, sign)

	// What is shifted in: bits of the sign, in the limb above the highest bit of the operand and in those above it.
	top, topSign, fill := b.at(t.top), b.at(t.topSign), b.at(t.fill1)
	b.zero("top", top.Sub(a.hi).Sub(narrow.Mul(a.lo.Sub(a.hi))))
	b.rangeSigned(real, top, b.at(t.topUpper), topSign)
	b.zero("fill", fill.Sub(fills.Mul(topSign)))
	part, all := fill.Mul(air.Constant(b.radix()).Sub(power)), fill.Times(b.radix()-1)
	b.zero("lower limb", c.lo.Sub(b.shiftedLo(of, lo, hi)).Sub(of[wayRight].Add(of[wayNarrowRight]).Mul(part)))
	b.zero("upper limb", c.hi.Sub(b.shiftedHi(of, lo, hi, sign)).Sub(of[wayRightLimb].Mul(part)).Sub(of[wayRight].Add(of[wayNarrowRight]).Mul(all)))
}

func (t *shiftsBy) fill(w *writer, s *step, in *decoded) {
	w.instruction(t.instruction, s)
	kind := int(in.op-codeShiftBy) / 2
	amount := s.b.value & (1<<w.amountBits() - 1)
	way, fills, power := w.shifted(kind, int(amount))
	w.counts.powers[kind<<w.amountBits()|int(amount)]++
	w.set(t.kind, uint64(kind))
	w.set(t.ways[way], 1)
	w.set(t.fills, flag(fills))
	w.set(t.rd, in.rd)
	w.set(t.rs1, in.rs1)
	w.set(t.rs2, in.rs2)
	w.access(t.a, s.a, s.time)
	w.setWord(t.b.word, s.b.value)
	w.second(t.immediate, t.b.time, s, in)
	w.access(t.old, s.old, s.time+3)

	lo, _ := w.split(s.b.value)
	rest := lo >> w.amountBits()
	more, most := rest&uint64(w.halves()-1), rest>>w.shape.half
	w.set(t.amount, amount)
	w.set(t.more, more)
	w.set(t.most, most)
	w.half(more)
	w.half(most)
	w.set(t.power, power)

	narrow := way == wayNarrowLeft || way == wayNarrowRight
	w.set(t.sign, w.products(t.lo, t.hi, s.a.value, power, narrow))
	lo, top := w.split(s.a.value)
	if narrow {
		top = lo
	}
	w.set(t.top, top)
	sign := w.upperSigned(t.topUpper, top)
	w.set(t.topSign, sign)
	w.set(t.fill1, sign*flag(fills))
	w.setWord(t.c, s.result)
}

// powers is the fixed table of how shifts are done: for each kind and amount, the way and the power of two.
type powers struct {
	columns
	asked column
}

func newPowers() *powers {
	t := &powers{}
	t.asked = t.column("asked", free)
	return t
}

func (*powers) name() string        { return "powers" }
func (t *powers) shapeOf() *columns { return &t.columns }

func (t *powers) state(b builder) {
	b.Answer(busPower, b.at(t.asked), b.Fixed(0), b.Fixed(1), b.Fixed(2), b.Fixed(3))
}

// rows returns the height of the table.
func (*powers) rows(s shape) int { return 8 << s.amountBits() }

// fixed returns the fixed columns: kind, amount, way and power. Rows behind the last kind repeat the first one.
func (t *powers) fixed(s shape) [][]uint64 {
	all := make([][]uint64, 4)
	for row := range t.rows(s) {
		kind, amount := row>>s.amountBits(), row&(1<<s.amountBits()-1)
		if kind >= shiftKinds {
			kind, amount = 0, 0
		}
		way, fills, power := s.shifted(kind, amount)
		for i, v := range [...]uint64{uint64(kind), uint64(amount), uint64(way) + wayFills*flag(fills), power} {
			all[i] = append(all[i], v)
		}
	}
	return all
}
